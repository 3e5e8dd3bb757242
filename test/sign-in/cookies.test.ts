// The dashboard's cookies: their lines, and which one of a browser's many is read.
import { expect, test } from "vitest";
import { createCookie } from "../../src/sign-in/cookies.ts";

const plain = createCookie("records_session", () => false);
const secure = createCookie("records_session", () => true);

test("a cookie is for our host only, not for scripts, and not sent by other sites; over https it is secure", () => {
  expect(plain.set("abc")).toBe("records_session=abc; Path=/; HttpOnly; SameSite=Lax");
  expect(plain.set("abc", 600)).toBe("records_session=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=600");
  expect(plain.set("abc", 0)).toBe("records_session=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
  expect(plain.clear()).toBe("records_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
  expect(secure.set("abc")).toBe("__Host-records_session=abc; Path=/; HttpOnly; SameSite=Lax; Secure");
  expect(secure.clear()).toBe("__Host-records_session=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0");
  expect([plain.name(), secure.name()]).toEqual(["records_session", "__Host-records_session"]);
});

test("the name of a cookie is the one in force now, not the one at its creation", () => {
  let https = false;
  const cookie = createCookie("c", () => https);
  expect(cookie.name()).toBe("c");
  https = true;
  expect([cookie.name(), cookie.read("c=1; __Host-c=2")]).toEqual(["__Host-c", "2"]);
});

test.each([
  ["records_session=abc", "abc"],
  ["a=1; records_session=abc; b=2", "abc"],
  ["a=1;\trecords_session=abc", "abc"],
  ["records_session=", ""],
  ["records_session=a=b=c", "a=b=c"],
  ['records_session="abc"', '"abc"'],
  ["records_session=first; records_session=second", "first"],
  ["my_records_session=no; records_session=abc", "abc"],
  ["a=records_session=no; records_session=abc", "abc"],
  ["records_session; records_session=abc", "abc"],
])("reads the value of %j as %j", (header, value) => {
  expect(plain.read(header)).toBe(value);
});

test.each([
  undefined,
  "",
  "records_session",
  "xrecords_session=x",
  "Records_Session=x",
  "__Host-records_session=x",
  "a=records_session=x",
  "records_session =x",
])("finds no value in %j", (header) => {
  expect(plain.read(header)).toBeUndefined();
});

test("over https a cookie that a sibling site could have set is not read", () => {
  expect(secure.read("records_session=planted")).toBeUndefined();
  expect(secure.read("records_session=planted; __Host-records_session=abc")).toBe("abc");
  expect(secure.read("__host-records_session=planted")).toBeUndefined();
});
