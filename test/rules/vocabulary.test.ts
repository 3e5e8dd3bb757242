// One term for one thing: names, comments, test titles and file names use the words of the vocabulary.
import { describe, expect, test } from "vitest";
import { files, read } from "../architecture/sources.ts";
import { misnamed } from "./vocabulary.ts";

const ofPrograms = /(?:\.(?:[cm]?[jt]sx?|proto|css|ya?ml|sh|py|go)|(?:^|\/)Dockerfile)$/;
/** Generated, or what people say in the records of the demo. */
const others = /^src\/gen\/|^client\/src\/schema\.ts$|^src\/embedded\/demo\/texts\//;

/** A use that stays, and why. */
const exceptions: readonly { readonly found: RegExp; readonly why: string }[] = [
  { found: /^test\/rules\/vocabulary/, why: "the rule names the words that it finds" },
  { found: /key_refused|KEY_REFUSED/, why: "the value of an audit entry, which clients read" },
  {
    found: /^test\/messages\/messages\.test\.ts:.*\b[Tt]he (?:service|provider) .* → (?:response|reject|continue)$/,
    why: "texts that break a rule",
  },
  { found: /REFUSED_STREAM/, why: "a code of HTTP/2" },
  {
    found: /^(?:src\/embedded\/demo\/|bench\/dataset\/|evals\/|proto\/records\/v1\/contacts\.proto).* → user$/,
    why: "a contact is a person",
  },
  { found: /^evals\/.* → request$/, why: "a user asks an assistant a question" },
  { found: /^src\/embedded\/demo\/.* ask → request$/, why: "a note says what to ask a contact" },
];

const programs = read(files.filter((path) => ofPrograms.test(path) && !others.test(path)));
const found = programs.flatMap(misnamed);

test("names, comments and titles use the words of the vocabulary", () => {
  expect(programs.length).toBeGreaterThan(1_200);
  expect(found.filter((use) => !exceptions.some((exception) => exception.found.test(use)))).toEqual([]);
});

test.each(exceptions.map(({ found: pattern, why }) => [why, pattern] as const))(
  "the exception is needed: %s",
  (_why, pattern) => {
    expect(found.some((use) => pattern.test(use))).toBe(true);
  },
);

describe("finds a word outside the vocabulary", () => {
  test.each([
    ["an identifier", "const answeredAt = 1;", "answeredAt → response"],
    ["a type", "interface RestAnswer {}", "RestAnswer → response"],
    ["a constant", "const MOST_MOMENTS = 1;", "MOST_MOMENTS → instant"],
    ["a property", "call.refused = true;", "refused → reject"],
    ["a function", "await ask(url);", "ask → request"],
    ["a word of a name", "const toldAt = 1;", "toldAt → report"],
    ["the name of a fixture", "useHouse();", "useHouse → fixture"],
    ["a callback", "options.hear(line);", "hear → receive"],
    ["a name of several words", "const newPerson = 1;", "newPerson → user"],
    ["a comment", "// The service answers.\n", "// The service answers. → response"],
    ["a block", "/** What\n * stands here. */", "/** What * stands here. */ → is"],
    ["a title", 'test("goes on after it", () => 1);', '"goes on after it" → continue'],
    ["a title in the passive", 'test("a caller is told why", () => 1);', '"a caller is told why" → report'],
    ["a title of cases", 'test.each([1])("%i tells", () => 1);', '"%i tells" → report'],
    ["the title of a case", 'const one = { title: "a text is refused" };', '"a text is refused" → reject'],
    ["a row that the title shows", 'test.each([["it tells", 1]])("%s", () => 1);', '"it tells" → report'],
    ["a key that is a text", 'const all = { "the-answer": 1 };', "the-answer → response"],
    ["a key in brackets", 'const all = { ["refused"]: 1 };', "refused → reject"],
    ["a template as a title", "describe(`a ${kind} of person`, () => 1);", "`a ${kind} of person` → user"],
  ])("in %s", (_where, text, use) => {
    expect(misnamed({ path: "src/one.ts", text })).toEqual([`src/one.ts:1: ${use}`]);
  });

  test("in a file's name, and in a comment of another language", () => {
    expect(misnamed({ path: "src/answer.ts", text: "" })).toEqual(["src/answer.ts:1: src/answer.ts → response"]);
    expect(misnamed({ path: "deploy/one.yaml", text: "a: 1\n# It tells nobody.\n" })).toEqual([
      "deploy/one.yaml:2: # It tells nobody. → report",
    ]);
  });

  test.each([
    ["behind a value", "deploy/one.yaml", "a: 1 # It tells nobody.\n"],
    ["behind a field", "proto/one.proto", 'string a = 1 [b = "// x"]; // It tells nobody.\n'],
    ["within a field", "proto/one.proto", "string a = 1 /* it tells nobody */ [b = 1];\n"],
    ["of a style", "src/guide/page/one.css", ".one { color: red; /* it tells nobody */ }\n"],
  ])("in a comment %s", (_where, path, text) => {
    expect(misnamed({ path, text })).toEqual([expect.stringMatching(/:1: .*tells nobody.* → report$/)]);
  });

  test("in the name of a style", () => {
    expect(misnamed({ path: "src/guide/page/one.css", text: ".refused-answer { color: red; }" })).toHaveLength(2);
  });

  test.each([
    ["a text", 'a: "# it tells nobody"\n'],
    ["an address", "a: https://one.example/#it-tells-nobody\n"],
  ])("but not in %s of a setting", (_what, text) => {
    expect(misnamed({ path: "deploy/one.yaml", text })).toEqual([]);
  });

  test.each([
    'log("answers");',
    "const pattern = /answer/;",
    "// It stands for a name, and the connection is refused for a moment.\n",
    "const task = response;",
    "// The cluster redirects with ASK.\n",
    "entry.person = name;",
  ])("and ignores everything else: %s", (text) => {
    expect(misnamed({ path: "src/one.ts", text })).toEqual([]);
  });
});
