// A client that archives and restores a contact on one version and checks it on the other.
import { otherThan } from "../fleet.ts";
import type { Request } from "../traffic.ts";
import type { Scene, Story } from "./story.ts";
import { dataOf, found, ingest, read, readBoth, same, wordOf } from "./story.ts";

/** A contact archived by one version cannot be changed or found by the other until it is restored. */
export async function archivedStory(scene: Scene, name: string): Promise<Story> {
  const { traffic, account } = scene;
  const word = wordOf(name, 0);
  const created = await traffic.send({
    to: "new",
    what: name,
    method: "POST",
    path: "/v1/contacts",
    key: account.key,
    idempotencyKey: name,
    body: { full_name: `Ann ${word}` },
    expect: [201],
  });
  const id = String(dataOf(created)["id"]);
  const path = `/v1/contacts/${id}`;
  let phone: unknown = null;

  return {
    async step(number, to) {
      const by = otherThan(to);
      const patch = {
        what: name,
        method: "PATCH",
        path,
        key: account.key,
        body: { phone: `+1 ${number}` },
      } satisfies Partial<Request>;
      const search = async (): Promise<unknown[]> =>
        (await found(scene, by, `/v1/contacts?query=${word}`, `a search for ${name}`)).map((contact) => contact["id"]);

      await ingest(scene, to, "ArchiveContacts", "contact_ids", id);
      await traffic.send({ ...patch, to: by, expect: [409] });
      await traffic.send({
        to: by,
        what: name,
        method: "POST",
        path: `${path}/notes`,
        key: account.key,
        idempotencyKey: `${name}-${number}`,
        body: { content: "no" },
        expect: [409],
      });
      same(scene, `${name}, archived by the ${to} version and searched on the other`, await search(), []);
      const archived = dataOf(await read(scene, by, path, name));
      if (typeof archived["archived_at"] !== "string")
        traffic.violation(`${name} was archived by the ${to} version, but is active in the other`);
      same(scene, `${name}, archived by the ${to} version`, archived["phone"], phone);

      await ingest(scene, by, "RestoreContacts", "contact_ids", id);
      phone = dataOf(await traffic.send({ ...patch, to, expect: [200] }))["phone"];
      same(scene, `${name}, restored by the ${by} version and searched there`, await search(), [id]);
    },
    async check() {
      const now = await readBoth(scene, path, name);
      same(scene, `${name} in the end`, [now["phone"], now["archived_at"]], [phone, null]);
    },
    left: () => ({ contacts: 1, idempotency: 1 }),
  };
}
