// Compares the JSON reader with JSON.parse, and checks what JSON.parse does not report (contract §2.3, §2.4).
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Flaw, Json } from "../../src/http/json.ts";
import { readJson } from "../../src/http/json.ts";
import { inForm } from "../support/form.ts";

test("reads a JSON text as JSON.parse does, whatever its whitespace [VAL-01]", () => {
  const spaced = fc.tuple(fc.json({ maxDepth: 6 }), fc.constantFrom(undefined, 1, "\t", "\n \r"));
  fc.assert(
    fc.property(spaced, ([text, space]) => {
      const loose = ` ${JSON.stringify(JSON.parse(text), null, space)}\r\n`;
      expect(plain(valueOf(loose))).toEqual(JSON.parse(loose));
    }),
  );
});

test("accepts a text of at most 100 levels exactly if JSON.parse accepts it [VAL-01]", () => {
  const pieces = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    "\\",
    "\\u",
    "d83d",
    "\\ud83d\\ude00",
    "a",
    "\u0000",
    "\u001f",
    "é",
    "true",
    "nul",
    "l",
    "-",
    "+",
    ".",
    "0",
    "1",
    "e",
    "E",
    " ",
    "\n",
    "\u00a0",
    "\ufeff",
  ];
  const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 9 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(
      fc.oneof(texts, fc.tuple(fc.json(), texts, fc.nat()).map(insert)),
      (text) => "value" in readJson(text) === parses(text),
    ),
    { numRuns: inForm(1_000, 20_000) },
  );
});

test("reads numbers of any length, sign, fraction and exponent as JSON.parse does [VAL-01]", () => {
  const digits = Array.from({ length: 25 }, (_, at) => "9007199254740993123456789".slice(0, at + 1));
  const forms = ["0", "-0", "10", ...digits].flatMap((integer) =>
    ["", ".5", ".0", "e2", "E-2", "e+2", ".25e3"].flatMap((rest) => [integer + rest, `-${integer}${rest}`]),
  );
  for (const form of forms.filter(parses))
    for (const text of [form, `[${form}]`, `{"a": ${form} }`])
      expect(plain(valueOf(text)), text).toEqual(JSON.parse(text));
  for (const form of ["00", "01", "-01", "1.", ".5", "1e", "1e+", "+1", "--1", "1-", "-", "0x1"])
    expect(readJson(form), form).toHaveProperty("problem");
});

test("reads empty objects beside others, each as an empty one [VAL-01]", () => {
  const text = '[{},{"a":{}},{ },[],[{}],{"a":1,"b":{"c":{}}}]';
  expect(plain(valueOf(text))).toEqual(JSON.parse(text));
});

test.each([
  ["", "it ends too early"],
  ["  ", "it ends too early"],
  ['{"a":', "it ends too early"],
  ['{"a":1', "it ends too early"],
  ['["a', "it ends too early"],
  ["{a:1}", 'unexpected "a" at position 1'],
  ["{:1}", 'unexpected ":" at position 1'],
  ['{"a":1,}', 'unexpected "}" at position 7'],
  ["[1,]", 'unexpected "]" at position 3'],
  ["[1 2]", 'unexpected "2" at position 3'],
  ["[01]", 'unexpected "1" at position 2'],
  ["{} {}", 'unexpected "{" at position 3'],
  ["'a'", `unexpected "'" at position 0`],
  ['"\\x"', 'unexpected "\\\\" at position 1'],
  ['"a\nb"', 'unexpected "\\n" at position 2'],
  ['"a\u001fb"', 'unexpected "\\u001f" at position 2'],
  ["\ufeff{}", 'unexpected "\\ufeff" at position 0'],
  ["\u{e0041}{}", 'unexpected "\\udb40\\udc41" at position 0'],
  ["😀", 'unexpected "😀" at position 0'],
])("%j is not JSON: %s [VAL-01]", (text, problem) => {
  expect(readJson(text)).toEqual({ problem });
});

test.each([
  ['{"a":1,"a":2}', ["a"]],
  ['{"a":1,"\\u0061":1}', ["a"]],
  ['{"a":{"b":1,"b":1}}', ["a.b"]],
  ['{"a":[{"b":1},{"b":1,"b":1}]}', ["a.b"]],
  ['{"__proto__":1,"__proto__":1}', ["__proto__"]],
  ['{"a":1,"a":1,"a":1}', ["a", "a"]],
  ['{"a":{"a":1},"b":{"a":1}}', []],
])("%s has these names twice: %j [VAL-03]", (text, paths) => {
  expect(flawsOf(text)).toEqual(paths.map((path) => ({ path, kind: "duplicate" })));
});

test.each([
  ['{"a":"\\ud83d"}', ["a"]],
  ['{"a":"\\ude00\\ud83d"}', ["a"]],
  ['{"a":[["x\\udc00"]]}', ["a"]],
  ['{"\\ud83d":1}', ["\ud83d"]],
  ['{"a":"\\ud83d\\ude00"}', []],
  ['{"a":"\\ud83d😀"}', ["a"]],
])("%s has lone surrogates at %j [VAL-12]", (text, paths) => {
  expect(flawsOf(text)).toEqual(paths.map((path) => ({ path, kind: "surrogate" })));
});

test.each([
  [
    "many errors deep in lists",
    `{"a":${"[".repeat(90)}${Array(15_000).fill('"\\ud800"').join(",")}${"]".repeat(90)}}`,
    /^a$/,
  ],
  [
    "many errors deep in objects",
    `${'{"b":'.repeat(90)}{${Array(10_000).fill('"c":0').join(",")}}${"}".repeat(90)}`,
    /^(b\.)*c$/,
  ],
])("reports the first 50 of %s, so that a small text causes little work [VAL-03, VAL-12]", (_what, text, path) => {
  const flaws = flawsOf(text) as Flaw[];
  expect(flaws).toHaveLength(50);
  for (const flaw of flaws) {
    expect(flaw.path).toMatch(path);
    expect(flaw.path.length).toBeLessThan(200);
  }
});

test("lists every error of an outermost property, and counts the deeper ones after the first 50 [VAL-03, VAL-12]", () => {
  const twice = Array.from({ length: 60 }, (_, at) => `"p${at}":0,"p${at}":0`).join(",");
  const deep = (count: number): string => `"deep":[${Array(count).fill('"\\ud800"').join(",")}]`;
  const ofText = (text: string): unknown => {
    const { flaws, flawsLeft } = readJson(text) as { flaws: readonly Flaw[]; flawsLeft: number };
    return [flaws.length, flaws.at(-1)?.path, flawsLeft];
  };
  expect(ofText(`{${twice}}`)).toEqual([60, "p59", 0]);
  expect(ofText(`{${deep(49)},${twice}}`)).toEqual([109, "p59", 0]);
  expect(ofText(`{${deep(70)},"last":"\\ud800"}`)).toEqual([51, "last", 20]);
  expect(ofText(`[${Array(70).fill('"\\ud800"').join(",")}]`)).toEqual([50, "", 20]);
});

test("treats no property name specially", () => {
  const value = valueOf('{"__proto__":{"a":1},"constructor":2,"toString":3}') as Map<string, Json>;
  expect([...value.keys()]).toEqual(["__proto__", "constructor", "toString"]);
});

test("NUL and other escaped control characters are ordinary characters [VAL-13]", () => {
  expect(valueOf('"a\\u0000b\\u001f"')).toBe("a\u0000b\u001f");
});

test("reads up to 100 levels of arrays and objects, and rejects more before it reads the rest", () => {
  for (const [open, close] of [
    ["[", "]"],
    ['{"a":', "}"],
  ] as const) {
    const nested = (levels: number): string => `${open.repeat(levels)}0${close.repeat(levels)}`;
    expect("value" in readJson(nested(100))).toBe(true);
    const problem = "it must have at most 100 levels of arrays and objects";
    for (const text of [nested(101), open.repeat(130_000), `${"[".repeat(100)}{}${"]".repeat(100)}`])
      expect(readJson(text)).toEqual({ problem });
    expect(readJson(open.repeat(100))).toEqual({ problem: "it ends too early" });
  }
});

function insert([json, piece, at]: [string, string, number]): string {
  const start = at % (json.length + 1);
  return json.slice(0, start) + piece + json.slice(start + (at % 3));
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function valueOf(text: string): Json {
  const reading = readJson(text);
  if ("problem" in reading) throw new Error(reading.problem);
  return reading.value;
}

function flawsOf(text: string): unknown {
  const reading = readJson(text);
  return "problem" in reading ? reading : reading.flaws;
}

function plain(value: Json): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, inner]) => [name, plain(inner)]));
  return Array.isArray(value) ? value.map(plain) : value;
}
