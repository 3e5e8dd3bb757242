// Runs the bench on its small data set: all peers return the same responses, and the table is complete.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bench } from "./bench.ts";
import type { Benched } from "./bench.ts";
import { differences } from "./check.ts";
import type { Line, Subject } from "./lines.ts";
import type { PeerName } from "./peers/peers.ts";
import { table } from "./table.ts";

const folder = mkdtempSync(join(tmpdir(), "records-bench-"));
const lines = [
  "get",
  "sessions",
  "contacts",
  "notes",
  "transcript",
  "create",
  "create-key",
  "append",
  "connect",
  "grpc",
];
let benched: Benched;
beforeAll(async () => {
  benched = await bench({
    dataDir: folder,
    small: true,
    only: [...lines, "memory", "search"],
    effort: { runs: 1, rounds: 1, seconds: 0.1, warmSeconds: 0.1 },
    node: process.execPath,
    say: () => undefined,
  });
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("every peer serves every line without failures", () => {
  const { pairs } = benched.results;
  expect([...new Set(pairs.map(({ line }) => line))]).toEqual(lines);
  for (const { line, other, runs } of pairs) {
    expect(runs, `${line}, ${other.name}`).toHaveLength(1);
    for (const side of ["own", "other"] as const) {
      expect(runs[0]?.rounds[0]?.[side].rate, `${line}, ${other.name}`).toBeGreaterThan(0);
      expect(runs[0]?.failed[side], `${line}, ${other.name}`).toBe(0);
    }
  }
  expect(pairs.filter(({ line }) => line === "get").map(({ other }) => other.name)).toEqual([
    "floorBucket",
    "floor",
    "floor3",
    "fastify",
    "fastifyAgg",
  ]);
});

test("a search for one word reads no more documents than its page, and at most 5,000 extra keys for a long word", () => {
  const searches = benched.results.searches.filter(({ list, words }) => list === "notes" && words === "one");
  expect(searches.length).toBeGreaterThan(2);
  for (const { title, sizes } of searches.filter(({ comparable }) => comparable)) {
    const mayBeLong = title === "a frequent word" || title === "a word of medium frequency";
    for (const { keys, documents } of sizes) {
      expect(documents, title).toBeLessThanOrEqual(16);
      expect(keys, title).toBeLessThanOrEqual(mayBeLong ? 5_016 : 16);
    }
  }
});

test("the table shows every measured goal and whether it is reached", () => {
  const text = table([benched]);
  expect(text).toMatch(
    /\| GET contact against the floor with a token \| CPU per request \| at least 0\.9 \| \d+\.\d\d (reached|\*\*missed\*\*) \|/,
  );
  expect(text).toContain("| Memory after GET contact against Fastify |");
  expect(text).toContain("### Search by size");
  expect(text).not.toMatch(/NaN|undefined|Infinity/);
});

test("detects a response that differs in one property, and a failed one", async () => {
  const responses = [
    [200, { data: { id: "1", email: null } }],
    [200, { data: { id: "1", email: "ann@example.com" } }],
    [500, {}],
  ] as const;
  const servers = await Promise.all(
    responses.map(async ([status, body]) => {
      const server = createServer((_request, response) => response.writeHead(status).end(JSON.stringify(body))).listen(
        0,
        "127.0.0.1",
      );
      await once(server, "listening");
      return server;
    }),
  );
  const [ours, floor, fastify] = servers.map((server) => (server.address() as AddressInfo).port);
  const requests = [{ kind: "http1", bytes: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" }] as const;
  const subject = (peer: PeerName): Subject => ({ name: peer, title: peer, peers: [peer], requests, form: "rest" });
  const line: Line = {
    name: "line",
    title: "",
    connections: 1,
    writes: false,
    subjects: [subject("ours"), subject("floor"), subject("fastify")],
  };
  try {
    const found = await differences(line, (peer) => (peer === "ours" ? ours : peer === "floor" ? floor : fastify) ?? 0);
    expect(found).toEqual([
      expect.stringContaining("line: floor responds to request 0 differently"),
      expect.stringContaining("line: fastify responds to request 0 differently"),
    ]);
    expect(await differences({ ...line, subjects: [subject("ours"), subject("ours")] }, () => ours ?? 0)).toEqual([]);
  } finally {
    for (const server of servers) server.close();
  }
});
