// What every JSON response has in common: its headers, the spelling of names, times and ids, and HEAD.
import { beforeAll, expect, test } from "vitest";
import { useService } from "../support/client.ts";
import type { Owner } from "../support/every.ts";
import { newOwner, reads, writes } from "../support/every.ts";
import type { RestResponse } from "../fixtures/service/service.ts";
import { randomId } from "../fixtures/service/service.ts";
import { endpoints } from "../fixtures/clients/wires.ts";
import type { Shape } from "../fixtures/clients/shapes.ts";
import { mismatches } from "../fixtures/clients/shapes.ts";

const service = useService();
let owner: Owner;
beforeAll(async () => {
  owner = await newOwner(service());
});

test("every JSON response, success or error, is application/json; charset=utf-8 and no-store [FMT-01, ERR-01]", async () => {
  const responses: (readonly [status: number, response: RestResponse])[] = [];
  for (const { path, method, body, success } of [...reads(owner), ...writes(owner)]) {
    responses.push([success, await service().rest(path, { key: owner.key, method, body })]);
    responses.push([401, await service().rest(path, { method, body })]);
  }
  responses.push([200, await service().rest("/v1/health")]);
  responses.push([404, await service().rest("/v1/nothing", { key: owner.key })]);
  responses.push([404, await owner.get(`/v1/contacts/${randomId()}`)]);
  responses.push([405, await service().rest("/v1/contacts", { key: owner.key, method: "DELETE" })]);
  responses.push([409, await owner.post("/v1/contacts", { full_name: "Ann", email: "ann@example.com" })]);
  responses.push([422, await owner.post("/v1/contacts", {})]);
  for (const [status, response] of responses) {
    expect(response.status, response.text).toBe(status);
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(Number(response.headers.get("content-length"))).toBe(Buffer.byteLength(response.text));
    if (status < 400) continue;
    expect(Object.keys(response.body)).toEqual(["error"]);
    expect(response.body.error.code).toBe(String(status));
    expect(response.body.error.message).toMatch(/^\S.*\S$/);
  }
});

test("every success has exactly the names and kinds of the specification [FMT-02, FMT-03, FMT-04, FMT-05, CSR-01, CGT-06, SLS-05, SGT-06, STR-06, NOT-05, PAG-01]", async () => {
  for (const { rpc, path, method, body } of [...reads(owner), ...writes(owner)]) {
    const response = await service().rest(path, { key: owner.key, method, body });
    const paged = "paged" in endpoints[rpc];
    expect(Object.keys(response.body).sort(), path).toEqual(paged ? ["data", "pagination"] : ["data"]);
    const shape: Shape = endpoints[rpc].shape;
    const records: unknown[] = "many" in endpoints[rpc] ? response.body.data : [response.body.data];
    expect(records.length, path).toBeGreaterThan(0);
    expect(
      records.flatMap((record) => mismatches(shape, record)),
      path,
    ).toEqual([]);
  }
});

test("returns ids in lower case, also those that were sent in upper case [FMT-05, VAL-16]", async () => {
  const id = randomId().toUpperCase();
  expect(await owner.put.contact({ id, full_name: "Upper" })).toBe(id.toLowerCase());
  for (const spelling of [id, id.toLowerCase()]) {
    const { status, body } = await owner.get(`/v1/contacts/${spelling}`);
    expect([status, body.data.id]).toEqual([200, id.toLowerCase()]);
  }
  const patched = await owner.patch(`/v1/contacts/${id}`, { phone: "1" });
  expect([patched.status, patched.body.data.id]).toEqual([200, id.toLowerCase()]);
  expect((await owner.post(`/v1/contacts/${id}/notes`, { content: "c" })).status).toBe(201);
});

test("HEAD responds like GET without a body, whatever the status [FMT-08]", async () => {
  const paths = [
    ...reads(owner).map(({ path }) => path),
    "/v1/health",
    `/v1/contacts/${randomId()}`,
    "/v1/contacts/ann",
    "/v1/contacts",
    "/v1/nothing",
    "/v1/notes?query=a",
  ];
  for (const path of paths) {
    for (const key of [owner.key, undefined]) {
      const get = await service().rest(path, { key });
      const head = await service().rest(path, { key, method: "HEAD" });
      expect([head.status, head.text], path).toEqual([get.status, ""]);
      const headers = (response: typeof get) =>
        [...response.headers].filter(([name]) => !["x-request-id", "date", "connection", "keep-alive"].includes(name));
      expect(headers(head), path).toEqual(headers(get));
    }
  }
});

test("returns times with three digits of milliseconds and cuts off smaller units [FMT-04]", async () => {
  const given = [
    "2026-01-31T09:30:00Z",
    "2026-01-31T09:30:00.5Z",
    "2026-01-31T09:30:00.123456789Z",
    "2026-01-31T11:30:00.250+02:00",
    "0001-01-01T00:00:00Z",
    "1969-12-31T23:59:59.999999Z",
  ];
  const written = await owner.put.sessions(...given.map((session_date) => ({ session_date })));
  const seen = [];
  for (const id of written) seen.push((await owner.get(`/v1/sessions/${id}`)).body.data.session_date);
  expect(seen).toEqual([
    "2026-01-31T09:30:00.000Z",
    "2026-01-31T09:30:00.500Z",
    "2026-01-31T09:30:00.123Z",
    "2026-01-31T09:30:00.250Z",
    "0001-01-01T00:00:00.000Z",
    "1969-12-31T23:59:59.999Z",
  ]);
});
