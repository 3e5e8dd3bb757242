// A client that creates contacts and appends notes with idempotency keys, and repeats each write on the other version.
import type { Version } from "../fleet.ts";
import { otherThan } from "../fleet.ts";
import type { ExpectedResponse } from "../traffic.ts";
import type { Data, Scene, Story } from "./story.ts";
import { dataOf, post, read, readBoth, same } from "./story.ts";

/** A write and its first response. */
interface Written {
  readonly path: string;
  readonly idempotencyKey: string;
  readonly body: object;
  readonly response: string;
}

/** The maximum number of writes to repeat on both versions in the end. */
const repeatedAtMost = 60;

/** Every repetition of a write returns the first response byte for byte, on both versions. */
export function createdStory(scene: Scene, name: string): Story {
  const { traffic } = scene;
  const contacts: { readonly created: Data; readonly notes: readonly Data[] }[] = [];
  const writes: Written[] = [];

  const replayed = ({ reply }: ExpectedResponse): boolean => reply.headers.get("idempotent-replayed") === "true";
  async function repeat(to: Version, { path, idempotencyKey, body, response: first }: Written): Promise<void> {
    const again = await post(scene, to, path, idempotencyKey, body);
    if (again.reply.body !== first || !replayed(again))
      traffic.violation(
        `${idempotencyKey} returned ${first}, but repeated on the ${to} version ${replayed(again) ? "" : "not as a replay "}${again.reply.body}`,
      );
  }
  async function writeTwice(to: Version, path: string, idempotencyKey: string, body: object): Promise<Data> {
    const response = await post(scene, to, path, idempotencyKey, body);
    const written = { path, idempotencyKey, body, response: response.reply.body };
    writes.push(written);
    await repeat(otherThan(to), written);
    return dataOf(response);
  }

  return {
    async step(number, to) {
      const key = `${name}-${number}`;
      const body = {
        full_name: `Ann ${key}`,
        phone: `+1 ${number}`,
        ...(number % 3 === 0 ? {} : { email: `${key}@example.com` }),
      };
      const created = await writeTwice(to, "/v1/contacts", key, body);
      const path = `/v1/contacts/${String(created["id"])}`;
      same(
        scene,
        `${key}, written to the ${to} version and read from the other`,
        dataOf(await read(scene, otherThan(to), path, key)),
        created,
      );
      const notes =
        number % 2 === 0
          ? []
          : [await writeTwice(otherThan(to), `${path}/notes`, `${key}-note`, { content: `A note on ${key}` })];
      contacts.push({ created, notes });
    },
    async check() {
      await inFours(contacts, async ({ created, notes }) => {
        const name = String(created["full_name"]);
        same(scene, name, await readBoth(scene, `/v1/contacts/${String(created["id"])}`, name), {
          ...created,
          notes_timeline: notes,
        });
      });
      const step = Math.ceil(writes.length / repeatedAtMost);
      await inFours(
        writes.filter((_, at) => at % step === 0),
        async (write) => {
          for (const to of ["old", "new"] as const) await repeat(to, write);
        },
      );
    },
    left() {
      const created = writes.filter(({ path }) => path === "/v1/contacts").length;
      return { contacts: created, notes: writes.length - created, idempotency: writes.length };
    },
  };
}

/** Processes the items, four at a time. */
async function inFours<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  await Promise.all(
    [0, 1, 2, 3].map(async () => {
      for (const item of queue) await work(item);
    }),
  );
}
