// A client that archives and restores a contact on one version and checks it on the other.
import { otherThan } from "../fleet.ts";
import type { Scene, Story } from "./story.ts";
import { dataOf, found, ingest, patch, post, read, readBoth, same, wordOf } from "./story.ts";

/** A contact archived by one version cannot be changed or found by the other until it is restored. */
export async function archivedStory(scene: Scene, name: string): Promise<Story> {
  const { traffic } = scene;
  const word = wordOf(name, 0);
  const created = await post(scene, "new", "/v1/contacts", name, { full_name: `Ann ${word}` });
  const id = String(dataOf(created)["id"]);
  const path = `/v1/contacts/${id}`;
  let phone: unknown = null;

  return {
    async step(number, to) {
      const by = otherThan(to);
      const change = { phone: `+1 ${number}` };
      const search = async (): Promise<unknown[]> =>
        (await found(scene, by, `/v1/contacts?query=${word}`, `a search for ${name}`)).map((contact) => contact["id"]);

      await ingest(scene, to, "ArchiveContacts", "contact_ids", id);
      await patch(scene, by, path, name, change, 409);
      await post(scene, by, `${path}/notes`, `${name}-${number}`, { content: "no" }, 409);
      same(scene, `${name}, archived by the ${to} version and searched on the other`, await search(), []);
      const archived = dataOf(await read(scene, by, path, name));
      if (typeof archived["archived_at"] !== "string")
        traffic.violation(`${name} was archived by the ${to} version, but is active in the other`);
      same(scene, `${name}, archived by the ${to} version`, archived["phone"], phone);

      await ingest(scene, by, "RestoreContacts", "contact_ids", id);
      phone = dataOf(await patch(scene, to, path, name, change))["phone"];
      same(scene, `${name}, restored by the ${by} version and searched there`, await search(), [id]);
    },
    async check() {
      const now = await readBoth(scene, path, name);
      same(scene, `${name} in the end`, [now["phone"], now["archived_at"]], [phone, null]);
    },
    left: () => ({ contacts: 1, idempotency: 1 }),
  };
}
