// GET /v1/sessions: which sessions, in which order, page by page.
import { expect, test } from "vitest";
import type { Client } from "../support/client.ts";
import { ids, newClient, useService } from "../support/client.ts";
import { randomId } from "../fixtures/service/service.ts";
import { mismatches, pagination, sessionSummary } from "../fixtures/clients/shapes.ts";

const service = useService();

/** The ids of all pages, walked by `next_offset`. */
async function walk(client: Client, query: string, limit: number): Promise<string[]> {
  const seen: string[] = [];
  let offset: number | null = 0;
  while (offset !== null) {
    const {
      body,
      status,
    }: {
      body: { data: { id: string }[]; pagination: { next_offset: number | null; has_more: boolean } };
      status: number;
    } = await client.get(`/v1/sessions?${query}&limit=${limit}&offset=${offset}`);
    expect(status).toBe(200);
    expect(body.pagination.has_more).toBe(body.pagination.next_offset !== null);
    if (body.pagination.has_more) expect(body.data).toHaveLength(limit);
    seen.push(...body.data.map(({ id }) => id));
    offset = body.pagination.next_offset;
  }
  return seen;
}

/** An id of this last byte: ids that end alike are the hardest to keep in one order. */
const idEndingIn = (end: string): string => randomId().slice(0, -2) + end;

test("a session has exactly the fields of the summary, with and without values [SLS-01, SLS-05, SLS-06, FMT-02, FMT-03, FMT-04, FMT-05]", async () => {
  const client = await newClient(service());
  const [named, inferred] = await client.put.contacts(
    { full_name: "Ann Lee", email: "ann@example.com" },
    { inferred_name: "Perhaps" },
  );
  const [full, unnamed, bare] = await client.put.sessions(
    {
      contact_id: named,
      title: "t",
      subtitle: "s",
      session_date: "2026-01-31T09:30:00Z",
      session_date_end: "2026-01-31T10:30:00.5Z",
      recording_status: "done",
      source: "calendar",
      conference_provider: "meet",
      conference_url: "https://x",
      provider_doc_url: "https://y",
    },
    { contact_id: inferred, session_date: "2026-01-30T00:00:00Z" },
    {},
  );
  const { body } = await client.get("/v1/sessions");
  expect(Object.keys(body).sort()).toEqual(["data", "pagination"]);
  expect(mismatches(pagination, body.pagination)).toEqual([]);
  expect(body.data.flatMap((session: unknown) => mismatches(sessionSummary, session))).toEqual([]);
  const nothing = {
    title: null,
    subtitle: null,
    session_date: null,
    session_date_end: null,
    recording_status: null,
    source: null,
    conference_provider: null,
    client: null,
  };
  expect(body.data).toEqual([
    {
      id: full,
      title: "t",
      subtitle: "s",
      session_date: "2026-01-31T09:30:00.000Z",
      session_date_end: "2026-01-31T10:30:00.500Z",
      recording_status: "done",
      source: "calendar",
      conference_provider: "meet",
      client: { id: named, full_name: "Ann Lee" },
    },
    { ...nothing, id: unnamed, session_date: "2026-01-30T00:00:00.000Z", client: { id: inferred, full_name: null } },
    { ...nothing, id: bare },
  ]);
});

test("lists the newest session_date first and undated sessions last, with and without a query, a contact or a bound [SLS-19]", async () => {
  const client = await newClient(service());
  const contact = await client.put.contact({ full_name: "Ann" });
  const dates = [
    "2026-01-02T00:00:00Z",
    undefined,
    "2099-01-01T00:00:00Z",
    "1969-12-31T23:59:59.999Z",
    "2026-01-02T00:00:00.001Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    undefined,
  ];
  const written = await client.put.sessions(
    ...dates.map((session_date) => ({
      title: "Budget",
      contact_id: contact,
      ...(session_date === undefined ? {} : { session_date }),
    })),
  );
  const dated = [6, 2, 4, 0, 3, 5].map((index) => written[index]);
  for (const query of ["limit=25", "query=budget", `contact_id=${contact}`, `query=budget&contact_id=${contact}`]) {
    const found = ids(await client.get(`/v1/sessions?${query}`));
    expect(found.slice(0, 6), query).toEqual(dated);
    expect(found.slice(6).sort(), query).toEqual([written[1], written[7]].sort());
  }
  for (const query of [
    "from=0001-01-01",
    "to=9999-12-31",
    `from=0001-01-01&to=9999-12-31&query=budget`,
    `from=0001-01-01&contact_id=${contact}`,
  ]) {
    expect(ids(await client.get(`/v1/sessions?${query}`)), query).toEqual(dated);
  }
});

test("a session without a date is outside every from and to [SLS-20]", async () => {
  const client = await newClient(service());
  await client.put.sessions({ title: "Undated" }, { title: "Undated", session_date: "2026-01-01T00:00:00Z" });
  for (const bound of ["from=0001-01-01", "to=9999-12-31", "from=0000-01-01&to=9999-12-31T23:59:59.999Z"]) {
    for (const query of ["", "&query=undated"])
      expect(ids(await client.get(`/v1/sessions?${bound}${query}`)), bound + query).toHaveLength(1);
  }
  expect(ids(await client.get("/v1/sessions"))).toHaveLength(2);
});

test("a walk through the pages returns every session once, in the order of the whole, also ties and undated ones [PAG-03, SLS-19]", async () => {
  const client = await newClient(service());
  const item = (index: number) => ({
    id: idEndingIn("7f"),
    title: "Tie",
    created_at: "2026-01-01T00:00:00Z",
    ...(index < 12 ? { session_date: "2026-01-31T00:00:00Z" } : {}),
  });
  const written = await client.put.sessions(...Array.from({ length: 20 }, (_, index) => item(index)));
  const dated = new Set(written.slice(0, 12));
  for (const query of ["", "query=tie"]) {
    const whole = ids(await client.get(`/v1/sessions?limit=25&${query}`));
    expect(whole.toSorted(), query).toEqual(written.toSorted());
    expect(
      whole.slice(0, 12).every((id) => dated.has(id)),
      query,
    ).toBe(true);
    for (const limit of [1, 3, 20]) expect(await walk(client, query, limit), `${query} by ${limit}`).toEqual(whole);
  }
});

test("limit is 10 by default; has_more and next_offset are exact at the last page [SLS-11, SLS-12, SLS-13, PAG-01, PAG-02]", async () => {
  const client = await newClient(service());
  await client.put.sessions(
    ...Array.from({ length: 26 }, (_, index) => ({
      session_date: new Date(Date.UTC(2026, 0, 1, index)).toISOString(),
    })),
  );
  const page = async (query: string) => {
    const { body } = await client.get(`/v1/sessions?${query}`);
    return [body.data.length, body.pagination];
  };
  expect(await page("")).toEqual([10, { limit: 10, offset: 0, has_more: true, next_offset: 10 }]);
  expect(await page("limit=25")).toEqual([25, { limit: 25, offset: 0, has_more: true, next_offset: 25 }]);
  expect(await page("limit=25&offset=1")).toEqual([25, { limit: 25, offset: 1, has_more: false, next_offset: null }]);
  expect(await page("limit=1&offset=25")).toEqual([1, { limit: 1, offset: 25, has_more: false, next_offset: null }]);
  expect(await page("offset=26")).toEqual([0, { limit: 10, offset: 26, has_more: false, next_offset: null }]);
});

test("contact_id selects that contact's sessions, together with a query and bounds; for an unknown or another account's contact the list is empty [SLS-09, SLS-10]", async () => {
  const client = await newClient(service());
  const stranger = await newClient(service());
  const [ann, bo] = await client.put.contacts({ full_name: "Ann" }, { full_name: "Bo" });
  const theirs = await stranger.put.contact({ full_name: "Ann" });
  await stranger.put.session({ contact_id: theirs, title: "Budget" });
  const [one, two] = await client.put.sessions(
    { contact_id: ann, title: "Budget", session_date: "2026-01-02T00:00:00Z" },
    { contact_id: ann, title: "Plan", session_date: "2026-01-01T00:00:00Z" },
    { contact_id: bo, title: "Budget" },
    { title: "Budget" },
  );
  const list = async (query: string): Promise<string[]> => ids(await client.get(`/v1/sessions?${query}`));
  expect(await list(`contact_id=${ann}`)).toEqual([one, two]);
  expect(await list(`contact_id=${ann?.toUpperCase()}`)).toEqual([one, two]);
  expect(await list(`contact_id=${ann}&query=plan`)).toEqual([two]);
  expect(await list(`contact_id=${ann}&query=ann+bu`)).toEqual([one]);
  expect(await list(`contact_id=${ann}&to=2026-01-01`)).toEqual([two]);
  for (const none of [theirs, randomId()]) {
    const response = await client.get(`/v1/sessions?contact_id=${none}`);
    expect([response.status, response.body]).toEqual([
      200,
      { data: [], pagination: { limit: 10, offset: 0, has_more: false, next_offset: null } },
    ]);
  }
  expect((await client.get("/v1/sessions?contact_id=ann")).status).toBe(422);
});

test("finds sessions of an archived contact like others [SLS-22]", async () => {
  const client = await newClient(service());
  const contact = await client.put.contact({ full_name: "Zebulon" });
  const session = await client.put.session({ contact_id: contact, title: "Budget" });
  await client.put.archive(contact);
  for (const query of ["", "query=budget", "query=zebulon", `contact_id=${contact}`])
    expect(ids(await client.get(`/v1/sessions?${query}`)), query).toEqual([session]);
});
