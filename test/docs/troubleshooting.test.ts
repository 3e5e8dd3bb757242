// The troubleshooting page has every message that the program prints, and only messages that it prints.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { codeOf, readPage, root } from "./pages.ts";

const page = readPage("docs/troubleshooting.md");

function filesIn(folder: string, leftOut: RegExp = /^$/): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !leftOut.test(name))
    .map((name) => join(root, folder, name));
}

/** The texts of a call, with `…` where something is filled in. */
function textsOf(code: string): string[] {
  // A template may hold templates: the innermost first.
  let plain = code;
  for (let before = ""; before !== plain; ) {
    before = plain;
    plain = plain.replace(/\$\{[^{}]*\}/g, "…");
  }
  return [...plain.matchAll(/`([^`]*)`|"((?:[^"\\]|\\.)*)"/g)].map(([, template, text]) =>
    (template ?? text ?? "").replaceAll('\\"', '"'),
  );
}

/** Whether a text is a sentence, and no name of a setting or of a code. */
function isSentence(text: string): boolean {
  return text.replaceAll("…", "").trim().split(/\s+/).length >= 3;
}

/** What `npm start` and the command line may end with: the texts of the calls that end them. */
const ending =
  /\b(?:(?:wrong|rejectUsage|failed|new (?:Command|Config)?Error)\(|message: |failure\(\s*exitCodes\.\w+,\s*).*$/gm;
const printed = [
  ...filesIn("src/embedded", /^(demo|provider)\/(?!listener)|^demo|^supervisor/),
  ...filesIn("src/cli", /^(doctor|formats\/(vcard|csv|ndjson))/),
  ...["src/config/config.ts", "src/config/redis-url.ts", "src/config/url-setting.ts", "src/config/secret-files.ts"].map(
    (path) => join(root, path),
  ),
  ...["src/http/ports.ts", "src/db/mongo.ts", "src/accounts/service.ts", "src/backup/restore.ts"].map((path) =>
    join(root, path),
  ),
]
  .flatMap((path) => [...readFileSync(path, "utf8").matchAll(ending)].flatMap(([call]) => textsOf(call)))
  .filter(isSentence);

/** The lines that the log may have at `warn` and `error`, apart from those of the command line. */
const logged = filesIn("src", /^cli\//)
  .flatMap((path) => [
    ...readFileSync(path, "utf8").matchAll(/\b(?:log\??\.(?:warn|error)|onTrouble|warn)\([^;]*?\)[;,]?$/gm),
  ])
  .flatMap(([call]) => textsOf(call))
  .filter(isSentence);

/** Everything that anything in the sources may say. */
const sources = [...filesIn("src"), ...filesIn("gateway")].map((path) => readFileSync(path, "utf8")).flatMap(textsOf);
const shown = codeOf(page);

/** The fixed parts of a text, without the words of a name in front. */
function parts(text: string): string[] {
  return text
    .split("…")
    .map((part) => part.trim())
    .filter((part) => /\p{L}{2}/u.test(part));
}

/** Whether a text of the page may be one that is printed: each of its parts is in it, in their order. */
function isSaid(text: string, said: string): boolean {
  let at = 0;
  return parts(said).every((part) => {
    const found = text.indexOf(part, at);
    at = found + part.length;
    return found >= 0;
  });
}

test("finds the messages in the sources", () => {
  expect(printed.length).toBeGreaterThan(45);
  expect(printed).toContain("No MongoDB: …. Install mongod, or set MONGODB_URI or MONGOMS_SYSTEM_BINARY.");
  expect(printed).toContain("must be at least 6 months after V1_DEPRECATED_AT");
  expect(logged).toContain("no lease on the primary of MongoDB: requests that need it get 503");
  expect(logged).toContain("the search terms of the previous release cannot be looked for");
});

test.each([...new Set([...printed, ...logged])])("the page has the message: %s", (said) => {
  // What the page shortens by `…` it has as far as it goes.
  const has = shown.some((text) => isSaid(text, said) || (parts(text).join("").length > 25 && isSaid(said, text)));
  expect(has, said).toBe(true);
});

const headings = [...page.prose.matchAll(/^### `(.+)`$/gm)]
  .map(([, heading = ""]) => heading)
  .filter((heading) => !heading.includes("`, `"));

test.each(headings)("the service prints the message of the heading: %s", (heading) => {
  const fixed = parts(
    heading
      .replace(/ \((?:E[A-Z]+|401|npm start)\)/, "…")
      .replace(/^(MONGODB_URI|SERVICE_TOKENS): /, "")
      .replace(/^[A-Z]+…/, ""),
  );
  expect(fixed.length).toBeGreaterThan(0);
  expect(
    sources.some((text) => fixed.every((part) => text.includes(part))),
    heading,
  ).toBe(true);
});

test("the page has headings for the common faults", () => expect(headings.length).toBeGreaterThan(10));
