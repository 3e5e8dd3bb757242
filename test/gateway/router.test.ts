// Which paths exist and what may be done with them (contract §2.2, §2.3).
import { expect, test } from "vitest";
import { createRouter } from "../../gateway/router.ts";

const router = createRouter([
  { method: "GET", template: "/v1/contacts" },
  { method: "POST", template: "/v1/contacts" },
  { method: "GET", template: "/v1/contacts/{contact_id}" },
  { method: "POST", template: "/v1/contacts/{contact_id}/notes" },
  { method: "GET", template: "/v1/contacts/newest/{count}" },
  { method: "DELETE", template: "/v1/contacts/newest" },
  { method: "GET", template: "/v1/contacts/latest/{count}/more" },
]);

function found(path: string): unknown {
  const match = router(path);
  return match && [match.resource.allow, ...match.captured];
}

test("prefers literal text to a parameter, and falls back to the parameter if the literal has no route", () => {
  expect(found("/v1/contacts/newest")).toEqual(["DELETE, OPTIONS"]);
  expect(found("/v1/contacts/newest/3")).toEqual(["GET, HEAD, OPTIONS", "3"]);
  expect(found("/v1/contacts/newest/notes")).toEqual(["GET, HEAD, OPTIONS", "notes"]);
  expect(found("/v1/contacts/latest/notes")).toEqual(["POST, OPTIONS", "latest"]);
  expect(found("/v1/contacts/newer/notes")).toEqual(["POST, OPTIONS", "newer"]);
});

test.each([
  "/V1/contacts",
  "/%561/contacts",
  "/v1/%43ontacts",
  "/v1%2Fcontacts",
  "/v1/con%74acts%2F",
  "/v1/%2563ontacts",
  "/v1/%e3ontacts",
  "/v1/%6",
  "/v1/./contacts",
  "/v1/sessions/../contacts",
  "/__proto__",
])("%j is unknown [ERR-05]", (path) => {
  expect(router(path)).toBeUndefined();
});

test.each(["/v1/%63ontacts", "/v1/%63%6F%6e%74acts", "/%76%31/contacts", "/v1/contact%73"])(
  "%j is /v1/contacts: an unnecessary escape makes no difference [ERR-18]",
  (path) => {
    expect(found(path)).toEqual(found("/v1/contacts"));
  },
);

test("passes the value of a parameter undecoded, with dots and escapes", () => {
  expect(found("/v1/contacts/..")).toEqual(["GET, HEAD, OPTIONS", ".."]);
  expect(found("/v1/contacts/a%2Fb")).toEqual(["GET, HEAD, OPTIONS", "a%2Fb"]);
});
