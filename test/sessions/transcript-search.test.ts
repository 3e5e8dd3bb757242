// The bounds of the search for what was said, and transcripts that an earlier release stored.
import { UUID } from "mongodb";
import { beforeAll, describe, expect, test } from "vitest";
import { readScope } from "../../src/call/scope.ts";
import { deadlineIn } from "../../src/call/deadline.ts";
import { prepareStored } from "../../src/sessions/transcript-preparation.ts";
import { createTranscriptSearch } from "../../src/sessions/transcript-search.ts";
import { listenToMongo } from "../fixtures/databases/commands.ts";
import { explain } from "../fixtures/databases/explain.ts";
import type { Client } from "../support/client.ts";
import { newClient, useService } from "../support/client.ts";

const service = useService();
const transcripts = () => service().app.client.db().collection<{ _id: UUID }>("transcripts");

async function searched(client: Client, request: Record<string, unknown>) {
  const response = await fetch(`${service().base}/records.v1.SessionService/SearchTranscripts`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${client.key}` },
    body: JSON.stringify(request),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, any>;
}
const sessionsIn = ({ passages = [] }: Record<string, any>): string[] =>
  passages.map(({ sessionId }: { sessionId: string }) => sessionId);

describe("a transcript that an earlier release stored [MCP-41]", () => {
  test("shows as being prepared, and is found afterwards", async () => {
    const client = await newClient(service());
    const [old = "", other = ""] = await client.put.sessions(
      { session_date: "2026-01-01T09:00:00Z" },
      { session_date: "2026-01-02T09:00:00Z" },
    );
    await client.put.transcripts(...[old, other].map((session_id) => ({ session_id, transcript: "Ann: A zither." })));
    await transcripts().updateOne({ _id: new UUID(old) }, { $unset: { g: "", rank: "" } });
    expect(await searched(client, { query: "zither" })).toMatchObject({
      preparing: true,
      passages: [{ sessionId: other }],
    });
    expect(await searched(client, { query: "zither" })).not.toHaveProperty("complete");
    // What another account has to prepare is nothing to this one.
    const stranger = await newClient(service());
    expect(await searched(stranger, { query: "zither" })).toMatchObject({ complete: true });

    await prepareStored(service().app.client, () => false);
    const found = await searched(client, { query: "zither" });
    expect(found).toMatchObject({ complete: true });
    expect(sessionsIn(found)).toEqual([other, old]);
    expect(sessionsIn(await searched(client, { query: "zither", to: "2026-01-01" }))).toEqual([old]);
  });

  test("is prepared when its session moved before, when its text is missing or damaged, and without a session", async () => {
    const client = await newClient(service());
    const ids = await client.put.sessions({}, {}, {}, {});
    const [moved = "", empty = "", damaged = "", orphan = ""] = ids;
    await client.put.transcripts(...ids.map((session_id) => ({ session_id, transcript: "Ann: A zither." })));
    await transcripts().updateMany({ _id: { $in: ids.map((id) => new UUID(id)) } }, { $unset: { g: "", rank: "" } });
    await client.put.session({ id: moved, session_date: "2026-05-01T09:00:00Z" });
    await transcripts().updateOne({ _id: new UUID(empty) }, { $set: { text: null } });
    await transcripts().updateOne({ _id: new UUID(damaged) }, { $set: { "text.blocks": Buffer.from([7, 7, 7]) } });
    await service()
      .app.client.db()
      .collection<{ _id: UUID }>("sessions")
      .deleteOne({ _id: new UUID(orphan) });
    await prepareStored(service().app.client, () => false);
    const found = await searched(client, { query: "zither" });
    expect(found).toMatchObject({ complete: true });
    expect(sessionsIn(found)).toEqual([moved]);
    expect(sessionsIn(await searched(client, { query: "zither", from: "2026-05-01" }))).toEqual([moved]);
  });
});

describe("a search that could read on says where it ended [MCP-41]", () => {
  test("after the newest 500 sessions of a contact", async () => {
    const client = await newClient(service());
    const contact_id = await client.put.contact({ full_name: "Often Met" });
    const day = (at: number) => new Date(Date.UTC(2026, 0, 1 - at)).toISOString();
    const ids = await client.put.sessions(
      ...Array.from({ length: 502 }, (_, at) => ({ contact_id, session_date: day(at) })),
    );
    const [first = "", last = ""] = [ids[0], ids[501]];
    await client.put.transcripts(
      { session_id: first, transcript: "A zither." },
      { session_id: last, transcript: "A zither." },
    );
    const found = await searched(client, { query: "zither", contact_id });
    expect([sessionsIn(found), found["complete"], found["searchedBackTo"]]).toEqual([
      [first],
      undefined,
      day(500).replace(".000", ""),
    ]);
    const rest = await searched(client, { query: "zither", contact_id, to: found["searchedBackTo"] });
    expect([sessionsIn(rest), rest["complete"]]).toEqual([[last], true]);
  });

  describe("after the newest 4,250 transcripts of the rarest word", () => {
    let client: Client;
    const count = 4_300;
    const day = (at: number) => new Date(Date.UTC(2026, 0, 1, 0, -at));
    beforeAll(async () => {
      client = await newClient(service());
      // Two words that were said equally often, and only once together, in the oldest session.
      const account_id = new UUID(client.id);
      const ids = Array.from({ length: 2 * count + 1 }, () => new UUID());
      const rank = (at: number) => (day(at).getTime() - Date.UTC(2020, 0, 1)) * 256;
      const db = service().app.client.db();
      const g = (at: number) => (at === 2 * count ? ["al", "be"] : at % 2 === 0 ? ["al"] : ["be"]);
      await db
        .collection("transcripts")
        .insertMany(
          ids.map((_id, at) => ({ _id, account_id, text: null, recording: null, rank: rank(at), g: g(at) })) as never,
        );
      await db.collection("sessions").insertMany(
        ids.map((_id, at) => ({
          _id,
          account_id,
          rank: rank(at),
          session_date: day(at),
          contact_id: null,
          client: null,
          title: null,
        })) as never,
      );
    });
    const search = (to?: number) =>
      createTranscriptSearch(service().app.client).search(
        readScope(new UUID(client.id), deadlineIn(60_000)),
        { query: "al be", contactId: undefined, first: undefined, last: to },
        { limit: 10, offset: 0 },
      );

    test("and a search up to there continues", async () => {
      const found = await search();
      expect([found.passages, found.complete, found.pagination?.hasMore]).toEqual([[], false, false]);
      const end = Number(found.searchedBackTo?.seconds) * 1_000;
      expect(new Date(end)).toEqual(day(2 * 4_249 + 1));
      const rest = await search(end);
      expect([rest.complete, rest.searchedBackTo]).toEqual([true, undefined]);
    });

    test("and reads index keys, but no documents [MCP-42]", async () => {
      const listening = listenToMongo(service().app.client);
      await search();
      const commands = listening.stop().map(({ command }) => command);
      const all = await Promise.all(commands.map((command) => explain(service().app.client, command)));
      const reads = all.flatMap((one) => one.reads);
      const sum = (of: (read: (typeof reads)[number]) => number): number =>
        reads.reduce((total, read) => total + of(read), 0);
      expect(sum(({ documents }) => documents)).toBeLessThanOrEqual(12);
      expect(sum(({ keys }) => keys)).toBeLessThanOrEqual(20_000);
    });
  });
});
