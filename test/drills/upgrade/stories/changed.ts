// Clients that change different fields of one contact at the same time and read back the copies of its name.
import type { Version } from "../fleet.ts";
import { otherThan } from "../fleet.ts";
import type { Data, Scene, Story } from "./story.ts";
import { dataOf, found, ingest, patch, post, read, readBoth, same, wordOf } from "./story.ts";

type Field = "full_name" | "email" | "phone";

/** The number of notes that a contact shows. */
const timelineLength = 50;
const searchedAtMost = 25;

/**
 * Four stories on one contact: a client for each field, and one that appends notes. Each field has one writer, so its
 * last acknowledged value is well defined even though both versions write the document concurrently.
 */
export async function changedStories(scene: Scene, name: string): Promise<Story[]> {
  const mark = `mark${name}`;
  const values: Record<Field, string> = {
    full_name: `Ann ${wordOf(name, 0)}`,
    email: `${name}@example.com`,
    phone: "+1 415 0",
  };
  const created = await post(scene, "old", "/v1/contacts", name, values);
  const id = String(dataOf(created)["id"]);
  const path = `/v1/contacts/${id}`;
  const sessionId = await ingest(scene, "new", "UpsertSessions", "sessions", {
    contact_id: id,
    title: name,
    session_date: "2026-01-02T00:00:00Z",
  });
  const notes: Data[] = [];

  const client = async (by: Version): Promise<Data> =>
    dataOf(await read(scene, by, `/v1/sessions/${sessionId}`, `${name}'s session`))["client"] as Data;
  const ids = async (by: Version, word: string): Promise<unknown[]> =>
    (await found(scene, by, `/v1/contacts?query=${word}`, `a search for ${word}`)).map((contact) => contact["id"]);

  async function change(field: Field, to: Version, value: string): Promise<string> {
    const what = `${field} of ${name} = ${value}, written to the ${to} version`;
    const response = await patch(scene, to, path, what, { [field]: value });
    values[field] = value;
    same(scene, `${what}, as returned`, dataOf(response)[field], value);
    same(scene, `${what}, read from the other`, dataOf(await read(scene, otherThan(to), path, name))[field], value);
    return what;
  }
  const story = (step: Story["step"]): Story => ({ step, check: () => Promise.resolve(), left: () => ({}) });

  return [
    {
      async step(number, to) {
        const [word, before] = [wordOf(name, number + 1), wordOf(name, number)];
        const by = otherThan(to);
        const what = await change("full_name", to, `Ann ${word}`);
        same(scene, `${what}, in its session`, (await client(by))["full_name"], `Ann ${word}`);
        same(scene, `${what}, searched by`, await ids(by, word), [id]);
        same(scene, `${what}, searched by its previous name`, await ids(by, before), []);
        const labels = (
          await found(scene, by, `/v1/notes?query=${mark}&limit=${searchedAtMost}`, "a search of notes")
        ).map((note) => note["parent_label"]);
        same(scene, `${what}, over its notes`, [...new Set(labels)], labels.length === 0 ? [] : [`Ann ${word}`]);
      },
      async check() {
        const now = await readBoth(scene, path, name);
        const { full_name, email, phone } = now;
        same(scene, `${name} in the end`, { full_name, email, phone }, values);
        same(scene, `the notes of ${name}`, now["notes_timeline"], notes.toReversed().slice(0, timelineLength));
        const { client } = (await readBoth(scene, `/v1/sessions/${sessionId}`, `${name}'s session`)) as {
          readonly client?: unknown;
        };
        same(scene, `the client of ${name}'s session`, client, {
          id,
          full_name: values.full_name,
          email: values.email,
        });
        await readBoth(scene, `/v1/contacts?query=${values.full_name.split(" ")[1] ?? ""}`, `a search for ${name}`);
        const labels = (
          (await readBoth(
            scene,
            `/v1/notes?query=${mark}&limit=${searchedAtMost}`,
            "a search of notes",
          )) as unknown as readonly Data[]
        ).map((note) => note["parent_label"]);
        same(
          scene,
          `the labels of ${name}'s notes`,
          labels,
          Array.from({ length: Math.min(searchedAtMost, notes.length) }, () => values.full_name),
        );
      },
      left: () => ({ contacts: 1, sessions: 1, notes: notes.length, idempotency: 1 + notes.length }),
    },
    story(async (number, to) => {
      // Searches for a name must not match the email.
      const what = await change("email", to, `${wordOf(`mail${name}`, number)}@example.com`);
      same(scene, `${what}, in its session`, (await client(otherThan(to)))["email"], values.email);
    }),
    story(async (number, to) => void (await change("phone", to, `+1 415 ${number + 1}`))),
    story(async (number, to) => {
      const key = `${name}-note-${number}`;
      const response = await post(scene, to, `${path}/notes`, key, { content: `${mark} ${number}` });
      notes.push(dataOf(response));
      const [newest] = dataOf(await read(scene, otherThan(to), path, name))["notes_timeline"] as readonly Data[];
      same(scene, `${key}, written to the ${to} version and read from the other`, newest, dataOf(response));
    }),
  ];
}
