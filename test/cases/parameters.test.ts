// Parameters of query and path that JavaScript would take and the interface does not: 422, never 500, and nothing
// written.
import { request } from "node:http";
import { beforeAll, expect, test } from "vitest";
import { counts, ids, useService } from "../support/client.ts";
import type { Owner } from "../support/every.ts";
import { newOwner } from "../support/every.ts";
import { randomId } from "../fixtures/service/service.ts";

const service = useService();
let owner: Owner;
beforeAll(async () => {
  owner = await newOwner(service());
});

async function status(path: string): Promise<number> {
  return (await owner.get(path)).status;
}

/** The status of a GET with this exact path, which fetch would normalize. */
function statusAsItStands(path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(service().base);
    const sent = request({ hostname, port, path, headers: { Authorization: `Bearer ${owner.key}` } }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode));
    });
    sent.on("error", reject).end();
  });
}

test("a query integer is 0 or [1-9][0-9]*, and nothing else that Number would accept [VAL-07, SLS-11, SLS-13, NOT-12, NOT-14]", async () => {
  const wrong = [
    "1e1",
    "%2B5",
    "+5",
    "%205",
    "5%20",
    "05",
    "00",
    "01",
    "5.0",
    "5.",
    ".5",
    "0x5",
    "0b1",
    "1_0",
    "-0",
    "-1",
    "",
    "%00",
    "5%00",
    "%D9%A5",
    "%EF%BC%95",
    "five",
    "NaN",
    "Infinity",
    "null",
    "true",
    "[]",
    "5,5",
    "5n",
    "9007199254740993",
    "1".repeat(400),
  ];
  for (const list of ["/v1/sessions?", "/v1/notes?query=budget&"]) {
    for (const name of ["limit", "offset"]) {
      for (const value of name === "limit" ? wrong : wrong.slice(0, 4)) {
        const response = await owner.get(`${list}${name}=${value}`);
        expect(response.status, `${list}${name}=${value}`).toBe(422);
        expect(response.body.error.message).toMatch(new RegExp(`^${name}: must be `));
      }
      expect(await status(`${list}${name}=1`)).toBe(200);
    }
  }
});

test("offset 2147483647 returns an empty page, and a larger one is rejected [VAL-08]", async () => {
  for (const list of ["/v1/sessions?", "/v1/notes?query=budget&"]) {
    const { body } = await owner.get(`${list}offset=2147483647&limit=25`);
    expect(body).toEqual({
      data: [],
      pagination: { limit: 25, offset: 2_147_483_647, has_more: false, next_offset: null },
    });
    for (const offset of ["2147483648", "4294967296", "99999999999999999999", "18446744073709551616"]) {
      const response = await owner.get(`${list}offset=${offset}`);
      expect([response.status, response.body.error.message]).toEqual([422, "offset: must be at most 2147483647"]);
    }
  }
});

test("a parameter given twice is 422 and named, however it is spelt; an unknown one is ignored, even twice [VAL-09, VAL-10]", async () => {
  for (const path of [
    "/v1/sessions?limit=1&limit=1",
    "/v1/sessions?limit=1&%6cimit=2",
    "/v1/notes?query=ab&limit=1&limit=2",
    "/v1/sessions?from=2026-01-01&from=2026-01-01",
    "/v1/contacts?query=ann&query=bo",
    "/v1/contacts?query=ann&query=",
  ]) {
    const response = await owner.get(path);
    expect(response.status, path).toBe(422);
    expect(response.body.error.message, path).toMatch(/^(limit|from|query): must not be given more than once$/);
  }
  for (const path of [
    "/v1/sessions?x=1",
    "/v1/sessions?x=1&x=2",
    "/v1/sessions?Limit=0",
    "/v1/sessions?limit[]=0",
    "/v1/sessions?contact_id[$ne]=1",
    "/v1/sessions?&&=&a",
    "/v1/sessions?__proto__=1&constructor=2",
    "/v1/sessions?",
    `/v1/contacts/${owner.contact}?limit=0`,
    "/v1/contacts?query=ann&limit=0&offset=x",
  ]) {
    expect(await status(path), path).toBe(200);
  }
});

test("a query or an id that is not percent-encoded UTF-8 is 422 [VAL-01]", async () => {
  for (const bad of ["%", "%2", "%zz", "%ff", "%c3", "%ed%a0%80", "%c0%80", "a%"]) {
    for (const path of [
      `/v1/contacts?query=${bad}`,
      `/v1/notes?query=ab${bad}`,
      `/v1/sessions?query=${bad}`,
      `/v1/contacts/${bad}`,
      `/v1/sessions/${bad}`,
      `/v1/sessions/${bad}/transcript`,
    ])
      expect(await status(path), path).toBe(422);
  }
});

test("an id is a UUID in its canonical form, in upper or lower case, and nothing else [VAL-16, CGT-04, SGT-04, STR-04, SLS-03]", async () => {
  const id = owner.contact;
  const wrong = [
    `{${id}}`,
    `urn:uuid:${id}`,
    id.replaceAll("-", ""),
    id.slice(1),
    `${id}0`,
    `${id.slice(0, -1)}g`,
    `%20${id}`,
    `${id}%20`,
    `${id}%0A`,
    `${id}%00`,
    "a%2Fb",
    "..%2F..",
    "null",
    "undefined",
    "0",
    "%7B%22$ne%22:null%7D",
    "*",
    "%EF%BC%91",
  ];
  for (const [at, value] of wrong.entries()) {
    const others = [`/v1/sessions/${value}`, `/v1/sessions/${value}/transcript`, `/v1/sessions?contact_id=${value}`];
    for (const path of [`/v1/contacts/${value}`, ...(at < 6 ? others : [])]) {
      const response = await owner.get(path);
      expect(response.status, path).toBe(422);
      expect(response.body.error.message, path).toMatch(/^(contact_id|session_id): must be a valid UUID/i);
    }
  }
  for (const dots of ["%2e%2e", "%2E", "..", ".", "%2e%2e%2fhealth"]) {
    for (const path of [`/v1/contacts/${dots}`, `/v1/sessions/${dots}/transcript`])
      expect(await statusAsItStands(path), path).toBe(422);
  }
  const before = await counts(service());
  for (const value of wrong.slice(0, 6)) {
    expect((await owner.patch(`/v1/contacts/${value}`, { phone: "1" })).status, value).toBe(422);
    expect((await owner.post(`/v1/contacts/${value}/notes`, { content: "c" })).status, value).toBe(422);
  }
  expect(await counts(service())).toEqual(before);
  expect(await status(`/v1/contacts/${id.toUpperCase()}`)).toBe(200);
  expect(await status("/v1/contacts/00000000-0000-0000-0000-000000000000")).toBe(404);
});

test("a query has 2 to 100 characters as sent: it is not trimmed, NUL is a character, and the text is no pattern [VAL-11, VAL-13, VAL-15, CSR-05, CSR-06]", async () => {
  for (const path of ["/v1/contacts", "/v1/sessions", "/v1/notes"]) {
    for (const query of [
      "%20%20",
      "%00%00",
      "%00a",
      "(a%2B)%2B$",
      ".*",
      "$where",
      "%5C%5C",
      "[[",
      "%F0%9F%98%80%F0%9F%98%80",
      "+".repeat(100),
      "a%CC%81",
    ])
      expect(await status(`${path}?query=${query}`), `${path}?query=${query}`).toBe(200);
    for (const query of [
      "%20",
      "%00",
      "+",
      "%F0%9F%98%80",
      "+".repeat(101),
      "%00".repeat(101),
      "%F0%9F%98%80".repeat(101),
    ])
      expect(await status(`${path}?query=${query}`), `${path}?query=${query}`).toBe(422);
  }
});

test("a blank between words may be sent as + or %20, and a plus as %2B [VAL-15]", async () => {
  const contact = await owner.put.contact({ full_name: "Plus Sign" });
  for (const query of ["plus+sign", "plus%20sign", "plus%2Bsign"])
    expect(ids(await owner.get(`/v1/contacts?query=${query}`)), query).toEqual([contact]);
});

test("stores NUL and finds it again, in names, notes and queries [VAL-13]", async () => {
  const { body } = await owner.post("/v1/contacts", {
    full_name: "zero\u0000width",
    email: "nul\u0000@example.com",
    phone: "\u0000",
  });
  expect(body.data).toMatchObject({ full_name: "zero\u0000width", email: "nul\u0000@example.com", phone: "\u0000" });
  for (const query of ["zero", "width", "zero%00width"])
    expect(ids(await owner.get(`/v1/contacts?query=${query}`)), query).toEqual([body.data.id]);
  await owner.post(`/v1/contacts/${body.data.id}/notes`, { content: "void\u0000ness" });
  expect((await owner.get("/v1/notes?query=void%00ness")).body.data).toMatchObject([{ content: "void\u0000ness" }]);
});

test("the message and the details name every violation of a request [ERR-03, ERR-04]", async () => {
  const { status: rejectedWith, body } = await owner.get(
    "/v1/sessions?query=a&contact_id=x&from=never&to=2026-02-30&limit=26&offset=-1",
  );
  expect(rejectedWith).toBe(422);
  expect(body.error.details.map(({ field }: { field: string }) => field).sort()).toEqual([
    "contact_id",
    "from",
    "limit",
    "offset",
    "query",
    "to",
  ]);
  for (const { field, rule, message, ...more } of body.error.details) {
    expect(more).toEqual({});
    expect(rule).toMatch(/^[a-z_.0-9]+$/);
    expect(body.error.message).toContain(`${field}: ${message}`);
  }
  const patch = await service().rest(`/v1/contacts/${randomId().slice(1)}`, {
    method: "PATCH",
    key: owner.key,
    body: { full_name: "", email: "x", phone: 1, other: null },
  });
  expect(patch.body.error.details.map(({ field }: { field: string }) => field).sort()).toEqual([
    "contact_id",
    "email",
    "full_name",
    "other",
    "phone",
  ]);
});
