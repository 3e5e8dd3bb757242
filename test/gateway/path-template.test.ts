// What a path template may be, and which templates match the same paths.
import { expect, test } from "vitest";
import { parseTemplate, templateShape } from "../../gateway/path-template.ts";

test("parses a template into literal segments and parameters", () => {
  expect(parseTemplate("/v1/contacts/{contact_id}/notes")).toEqual([
    { literal: "v1" },
    { literal: "contacts" },
    { parameter: "contact_id" },
    { literal: "notes" },
  ]);
  expect(parseTemplate("/v1/contacts/{contact.id}")[2]).toEqual({ parameter: "contact.id" });
  expect(parseTemplate("/{note_2.contact_9.id}")).toEqual([{ parameter: "note_2.contact_9.id" }]);
});

test.each([
  "",
  "v1",
  "/",
  "/v1/",
  "/v1//contacts",
  "/v1/{}",
  "/v1/{id",
  "/v1/id}",
  "/v1/a{id}",
  "/v1/{id}a",
  "/v1/{Id}",
  "/v1/{id=*}",
  "/v1/**",
  "/v1/a:verb",
  "/v1/a%20b",
  "/v1/{a}/{a}",
  "/v1/{a.}",
])("%j is not a template", (template) => {
  expect(() => parseTemplate(template)).toThrow("the path");
});

test("templates that differ only in the names of their parameters have the same shape", () => {
  expect(templateShape(parseTemplate("/v1/{a}/b"))).toBe(templateShape(parseTemplate("/v1/{c}/b")));
  expect(templateShape(parseTemplate("/v1/{a}/b"))).toBe("/v1/{}/b");
  for (const other of ["/v1/a/b", "/v1/{a}", "/v1/b/{a}", "/v1/{a}/c"])
    expect(templateShape(parseTemplate("/v1/{a}/b")), other).not.toBe(templateShape(parseTemplate(other)));
});
