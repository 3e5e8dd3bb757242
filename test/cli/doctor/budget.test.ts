// What the doctor says of the connections that MongoDB accepts.
import { expect, test, vi } from "vitest";
import { compareConnections } from "../../../src/cli/doctor/mongodb.ts";
import { runDoctor } from "../../../src/cli/doctor/doctor.ts";
import { useService } from "../../support/client.ts";
import { environmentOf, findingOf } from "./set-up.ts";

vi.setConfig({ testTimeout: 60_000 });

const service = useService();

test.each([
  // An instance opens 10 in addition to those for requests.
  ["ok", 1_000, 100, 65, "MongoDB accepts 1000 connections. An instance opens up to 75, so up to 13 instances fit."],
  ["ok", 330, 220, 100, "MongoDB accepts 330 connections. An instance opens up to 110, so up to 3 instances fit."],
  [
    "warning",
    329,
    0,
    100,
    "MongoDB accepts 329 connections, and an instance opens up to 110. That is enough for 2 instances.",
  ],
  ["warning", 1_000, 901, 90, "Of its 1000 connections, MongoDB has 99 left. One more instance opens up to 100."],
  [
    "warning",
    65_536,
    10,
    0,
    "maxPoolSize=0 in MONGODB_URI lets an instance open any number of connections to MongoDB.",
  ],
])("reports %s: of %i connections, %i in use, with a pool of %i", (status, limit, used, maxPool, message) => {
  const current = status === "warning" && limit === 1_000 ? 901 : used;
  const verdict = compareConnections({ connections: { current, available: limit - current } }, maxPool);
  expect([verdict.status, verdict.message]).toEqual([status, message]);
});

test("the doctor counts by MONGODB_MAX_POOL, then by the URI, and names the right that it lacks", async () => {
  const environment = environmentOf(service(), {});
  const found = async (more: Record<string, string> = {}) =>
    findingOf(await runDoctor({ ...environment, ...more }), "mongodb.connections");
  const uri = service().administratorUri;
  expect((await found({ MONGODB_URI: uri, MONGODB_MAX_POOL: "30" })).message).toMatch(/An instance opens up to 40,/);
  const byUri = { MONGODB_URI: `${uri}&maxPoolSize=20&minPoolSize=12` };
  expect((await found(byUri)).message).toMatch(/An instance opens up to 30,/);
  expect((await found({ ...byUri, MONGODB_MAX_POOL: "5" })).message).toMatch(/An instance opens up to 15,/);
  // The service's own user has readWrite alone.
  expect(await found()).toMatchObject({
    status: "note",
    message: "The user may not read how many connections MongoDB accepts.",
  });
});
