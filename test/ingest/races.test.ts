// Ingest during changes through the interface: copies of names must not stay behind.
import { expect, test } from "vitest";
import { newClient, useService } from "../support/client.ts";
import { inForm } from "../support/form.ts";

const service = useService();
const rounds = inForm(6, 20);

/** Runs the first function six times at once, and the second one in between. */
function around(one: () => Promise<unknown>, other: () => Promise<unknown>): Promise<unknown>[] {
  return [one(), one(), other(), one(), one(), one(), one()];
}

test("a session that is ingested while its contact is renamed finally has the contact's new name [SLS-06, SLS-21]", async () => {
  const client = await newClient(service());
  const contact = await client.put.contact({ full_name: "Before" });
  const stale: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const full_name = `Name ${round}`;
    await Promise.all(
      around(
        () =>
          client.put.sessions(...Array.from({ length: 3 }, () => ({ contact_id: contact, title: `Round x${round}x` }))),
        () => client.patch(`/v1/contacts/${contact}`, { full_name }),
      ),
    );
    const { body } = await client.get(`/v1/sessions?query=x${round}x&limit=25`);
    expect(body.data).toHaveLength(18);
    for (const session of body.data)
      if (session.client.full_name !== full_name) stale.push(`${session.client.full_name} for ${full_name}`);
  }
  expect(stale).toEqual([]);
});

test("a note that is ingested while its contact is renamed finally has the contact's new name [NOT-07]", async () => {
  const client = await newClient(service());
  const contact = await client.put.contact({ full_name: "Before" });
  const stale: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const full_name = `Name ${round}`;
    await Promise.all(
      around(
        () => client.put.contactNotes({ contact_id: contact, content: `milk x${round}x`, source: "import" }),
        () => client.patch(`/v1/contacts/${contact}`, { full_name }),
      ),
    );
    const { body } = await client.get(`/v1/notes?query=x${round}x&limit=25`);
    for (const note of body.data)
      if (note.parent_label !== full_name) stale.push(`${note.parent_label} for ${full_name}`);
  }
  expect(stale).toEqual([]);
});

test("a note that is appended while its contact is renamed finally has the contact's new name [NOT-07]", async () => {
  const client = await newClient(service());
  const contact = await client.put.contact({ full_name: "Before" });
  for (let round = 0; round < rounds; round++) {
    const full_name = `Name ${round}`;
    const responses = await Promise.all([
      client.post(`/v1/contacts/${contact}/notes`, { content: `milk x${round}x` }),
      client.patch(`/v1/contacts/${contact}`, { full_name }),
      client.post(`/v1/contacts/${contact}/notes`, { content: `milk x${round}x` }),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([201, 200, 201]);
    const { body } = await client.get(`/v1/notes?query=x${round}x`);
    expect(body.data.map(({ parent_label }: { parent_label: string }) => parent_label)).toEqual([full_name, full_name]);
  }
});

test("a note that is ingested while its session is ingested again finally has the session's new title [NOT-07]", async () => {
  const client = await newClient(service());
  const session = await client.put.session({ external_id: "s", title: "Before" });
  const stale: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const title = `Title ${round}`;
    const note = { session_id: session, content: `milk x${round}x`, type: "SESSION_NOTE_TYPE_USER_MANUAL" };
    await Promise.all(
      around(
        () => client.put.sessionNotes(note),
        () => client.put.session({ external_id: "s", title }),
      ),
    );
    const { body } = await client.get(`/v1/notes?query=x${round}x`);
    for (const { parent_label } of body.data) if (parent_label !== title) stale.push(`${parent_label} for ${title}`);
  }
  expect(stale).toEqual([]);
});
