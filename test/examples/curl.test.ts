// The example with curl, run as a program.
import { expect, test } from "vitest";
import { newClient, useService } from "../support/client.ts";
import { demoFolder, noDemo, run } from "./run.ts";

const service = useService({ RATE_LIMIT: "2", RATE_BURST: "2" });

test("curl searches, and creates one contact with two identical requests, also when it is throttled", async () => {
  const client = await newClient(service());
  await client.put.contact({ full_name: "Zoë Martin" });
  const { status, out } = await run("sh", ["examples/curl/run.sh", "zoë"], {
    RECORDS_URL: service().base,
    RECORDS_API_KEY: client.key,
  });
  expect(status, out).toBe(0);
  const bodies = out
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => (JSON.parse(line) as { data?: unknown }).data);
  expect(bodies).toMatchObject([
    { status: "ok" },
    [{ full_name: "Zoë Martin" }],
    { full_name: "Noor Haddad" },
    { full_name: "Noor Haddad" },
  ]);
  expect(bodies[3]).toEqual(bodies[2]);
  await expect.poll(async () => (await client.get("/v1/contacts?query=noor+haddad")).body.data?.length).toBe(1);
});

test("a rejection ends the script with the service's reason, with the address and the key of the demo", async () => {
  const { key } = await newClient(service());
  const { status, out } = await run("sh", ["examples/curl/run.sh", "x"], { DATA_DIR: demoFolder(service().base, key) });
  expect(status).toBe(22);
  expect(out).toMatch(/query: /);
});

test("the script explains how to set the address and the key if there is no demo", async () => {
  expect(await run("sh", ["examples/curl/run.sh"], { DATA_DIR: "/nowhere" })).toEqual({
    status: 1,
    out: "",
    error: `${noDemo}\n`,
  });
});
