// Every text that the program shows is in one catalogue, and keeps the rules for what people read.
import { expect, test } from "vitest";
import { failures } from "../../src/errors.ts";
import { flawsOf } from "./style.ts";
import { allTexts, textsIn } from "./texts.ts";

const parts = allTexts();

test("the catalogue has every text of the program: review a change of it as a user would (-u writes it)", async () => {
  const sections = parts.map(({ folder, texts }) => `## ${folder}\n\n${texts.map((text) => `- ${text}`).join("\n")}\n`);
  const heading = "# Messages\n\nEvery text of the program that people read, by the folder of its source.\n";
  await expect([heading, ...sections].join("\n")).toMatchFileSnapshot("catalogue.md");
});

test("no text breaks the rules of style", () => {
  const flaws = parts.flatMap(({ folder, texts }) =>
    texts.flatMap((text) => flawsOf(text).map((flaw) => `${folder}: ${text}\n  ${flaw}`)),
  );
  expect(flaws).toEqual([]);
});

test.each(Object.values(failures).map(({ message }) => [message]))(
  "the error says what happened and what to do: %s",
  (message) => {
    expect(message).toMatch(/^[A-Z]/);
    // A violation says what must be. Any other error has a second sentence.
    expect(message).toMatch(/\bmust\b|\. [A-Z].*\.$/);
  },
);

test.each([
  ["The service did not answer in time", '"answer"'],
  ["The provider refused the sign-in", '"refused"'],
  ["The service goes on without Redis", '"goes on"'],
  ["That is no Sentinel", '"is no "'],
  ["Redis is away", '"is away"'],
  [`It says ${"word ".repeat(30).trim()}.`, "32 words"],
  ["The file is empty. Choose another file", "full stop"],
])("detects a text that breaks a rule: %s", (text, flaw) => {
  expect(flawsOf(text)).toEqual([expect.stringContaining(flaw)]);
});

test("finds texts in errors, log calls, templates and HTML, with … for values", () => {
  const code = [
    'import x from "some package";',
    'const level = "info";',
    'throw new Error("The file is empty.");',
    "log.warn({ port }, `port ${port} is in use`);",
    'log.info({ port }, "refused");',
    'const page = html`<h1>Sign in</h1><p title="a">Ask <b>${name}</b> first.</p>`;',
    'const help = "\\nFirst paragraph.\\n\\nSecond paragraph.";',
  ];
  expect(textsIn(code.join("\n"))).toEqual([
    "The file is empty.",
    "port … is in use",
    "refused",
    "Sign in",
    "Ask … first.",
    "First paragraph.",
    "Second paragraph.",
  ]);
});
