// The example in Python, run as a program.
import { expect, test } from "vitest";
import { failure, reset, scripted } from "../client/scripted.ts";
import { newClient, useService } from "../support/client.ts";
import { demoFolder, noDemo, run } from "./run.ts";

const service = useService();
const python = (environment: Record<string, string>, ...args: string[]) =>
  run("python3", ["examples/python/log_call.py", ...args], environment);

test("log_call writes one note for a call, however often it runs, and lists the candidates if the name is ambiguous", async () => {
  const client = await newClient(service());
  const [id] = await client.put.contacts(
    { full_name: "Zoë Martin" },
    { full_name: "Ann Lee" },
    { full_name: "Ann Bo" },
  );
  const environment = { RECORDS_URL: service().base, RECORDS_API_KEY: client.key };
  const first = await python(environment, "zoe", "Called back");
  expect(first).toMatchObject({ status: 0, error: "", out: expect.stringMatching(/^Zoë Martin: note \S+ of \S+\n$/) });
  expect(await python({ DATA_DIR: demoFolder(service().base, client.key) }, "zoe", "Called back")).toEqual(first);
  expect(await python({ DATA_DIR: "/nowhere" }, "zoe", "Called back")).toEqual({
    status: 1,
    out: "",
    error: `${noDemo}\n`,
  });
  expect((await client.get(`/v1/contacts/${id}`)).body.data.notes_timeline).toMatchObject([
    { content: "Called back", source: "api" },
  ]);
  expect(await python(environment, "ann", "Called back")).toMatchObject({
    status: 1,
    error: expect.stringMatching(/^ann: 2 contacts match, not one: Ann (Lee|Bo), Ann (Lee|Bo)\n$/),
  });
  expect(await python(environment, "a", "Called back")).toMatchObject({
    status: 1,
    error: expect.stringMatching(/^HTTP 422: query: /),
  });
});

test("log_call retries after 503, 429 and a broken connection", async () => {
  const { url, seen } = await scripted(
    failure(503, "Away."),
    failure(429, "Too many.", { "Retry-After": "0" }),
    reset,
    failure(404, "No."),
  );
  expect(await python({ RECORDS_URL: url, RECORDS_API_KEY: "rec_test" }, "zoe", "Called")).toMatchObject({
    status: 1,
    error: "HTTP 404: No.\n",
  });
  expect(seen).toHaveLength(4);
});
