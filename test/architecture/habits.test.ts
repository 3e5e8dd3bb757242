// Habits of every file: its first sentence, the code that it runs when it is loaded, and what none has.
import { longBodies } from "../rules/functions.ts";
import type { Example } from "../rules/rule.ts";
import { declareRule, havingText } from "../rules/rule.ts";
import { longComments, longFiles, namedForNothing, withoutPurpose } from "./habits.ts";
import { allHandWritten, files, handWritten, read, served } from "./sources.ts";

/** What no file has, each with a text of every form of it, and the files that have it. */
const unwanted: readonly (readonly [
  name: string,
  pattern: RegExp,
  bad: readonly [Example, ...Example[]],
  having?: string[],
])[] = [
  [
    "any",
    /(?:: |<|\bas )any\b(?! \w)/,
    [
      ["the type of a variable", "const one: any = 1;"],
      ["a type argument", "const all = new Set<any>();"],
      ["a cast", "call(one as any);"],
    ],
    // Fixtures that return bodies of every shape: the tests state what is in them.
    ["fixtures/service/service.ts", "fixtures/sign-in/assistants.ts"],
  ],
  [
    "@ts-ignore",
    /@ts-(ignore|expect-error|nocheck)/,
    [
      ["@ts-ignore", "// @ts-ignore\ncall();"],
      ["@ts-expect-error", "// @ts-expect-error\ncall();"],
      ["@ts-nocheck", "// @ts-nocheck\n"],
    ],
  ],
  [
    "export default",
    /^export default|\bas default\b/m,
    [
      ["a default export", "const one = 1;\nexport default one;"],
      ["a default export by its name", "export { one as default };"],
    ],
    // Vitest reads its settings from there.
    ["drills/mutation/vitest.config.mts"],
  ],
  ["export *", /^export \*/m, [["an export of everything", 'export * from "./store.ts";']]],
  [
    "TODO",
    /\b(?:TODO|FIXME|XXX)\b|\/\/.*\b(?:todo:|fix ?me\b)/,
    [
      ["TODO", "// TODO: write it.\n"],
      ["FIXME", "// FIXME: it fails.\n"],
      ["XXX", "// XXX\n"],
      ["a small one", "call(); // todo: write it\n"],
    ],
  ],
];

for (const [name, pattern, bad, exceptions = []] of unwanted)
  declareRule({ title: `no file has ${name}`, sources: handWritten, breaches: havingText(pattern), exceptions, bad });

declareRule({
  title: "no file in src and gateway measures an age or a time limit with the wall clock, which can be changed",
  sources: served,
  breaches: havingText(/\bDate\.now\(/),
  exceptions: [
    // A part of a random mark.
    "gateway/gzip.ts",
    // Instants that are stored or reported.
    "src/contacts/store.ts",
    "src/db/lease.ts",
    "src/embedded/provider/interactions.ts",
    "src/embedded/provider/store.ts",
    "src/switches/store.ts",
    // Compared with instants of the provider, of a file, or of the database.
    "src/backup/shapes.ts",
    "src/dashboard/page/dashboard/instant.js",
    "src/embedded/program-cache.ts",
    "src/embedded/provider/endings.ts",
    "src/mcp/tokens.ts",
    // Stands for the clock of the database until the first proof.
    "src/db/primary.ts",
  ],
  bad: [
    ["an age", "if (Date.now() - kept.at >= ageMs) remake();"],
    ["a time limit", "const until = Date.now() + waitMs;"],
    ["the begin of an age", "kept = { value, at: Date.now() };"],
  ],
  good: [["the monotonic clock", "if (performance.now() - kept.at >= ageMs) remake();"]],
});

declareRule({
  title: "one file knows the stored names of search terms and search text",
  sources: served,
  breaches: havingText(
    /(?:[{(]\s*|(?<!\$firstN: \{[^,]*),\s*|^\s+)(?:g|n)\??:(?! ")|\w\.(?:g|n)\b(?!\()|"\$(?:\w+\.)?(?:g|n)"/m,
  ),
  bad: [
    ["a condition", "find({ account_id, g: term, rank });"],
    ["a projection", "const stage = { $project: { n: 0 } };"],
    ["a field of a type", "interface Stored {\n  n?: string;\n}"],
    ["an access", "return document.g.length;"],
    ["a path", 'const text = { $strLenBytes: "$own.n" };'],
  ],
  good: [
    ["the constants", "find({ account_id, [termsField]: term });"],
    ["an option of an operator", 'const rows = { $firstN: { input: "$$ROOT", n: length } };'],
  ],
});

declareRule({
  title: "every file opens with one sentence that says what it is for",
  sources: allHandWritten,
  breaches: withoutPurpose,
  bad: [
    ["a file without a comment", 'import { one } from "./one.ts";\n'],
    ["a file whose first comment is below", "const one = 1;\n// One.\n"],
    ["a comment without a sentence", "// One\nconst one = 1;\n"],
    ["an empty comment", "//\nconst one = 1; // One.\n"],
    ["an empty file", ""],
  ],
  good: [
    ["a sentence", "// One.\nconst one = 1;\n"],
    ["a sentence of two lines", "// Two lines,\n// and no more.\n"],
    ["a program", "#!/usr/bin/env node\n// Starts the service.\n"],
  ],
});

// Messages that move to another file move in the code that clients generate as well (contacts_pb in most languages):
// they would have to change their imports for our convenience. So a service and its messages stay in one file.
declareRule({
  title: "no proto has more than 400 lines",
  sources: read(files.filter((path) => path.startsWith("proto/") && path.endsWith(".proto"))),
  breaches: (protos) => longFiles(protos, 400),
  path: "proto/records/v1/long.proto",
  bad: [["one of 401 lines", "// Long.\n".repeat(401)]],
  good: [["one of 400 lines", "// Long.\n".repeat(400)]],
});

/** A function with this number of lines. */
const long = (head: string, foot: string, lines = 61): string =>
  [head, ...Array<string>(lines - 2).fill("  next();"), foot].join("\n");

declareRule({
  title: "the code that a module in src and gateway runs when it is loaded is at most 60 lines long",
  sources: served,
  breaches: (sources) => sources.flatMap((source) => longBodies(source, 60)),
  bad: [
    ["61 statements", "all.push(1);\n".repeat(61)],
    ["one statement of 61 lines", long("if (ready) {", "}")],
    ["several statements of 61 lines", `${long("for (;;) {", "}", 31)}\n${long("try {", "} finally {}", 30)}`],
  ],
  good: [
    ["60 statements", "all.push(1);\n".repeat(60)],
    ["a table", `const all = [\n${"  1,\n".repeat(70)}];`],
  ],
});

declareRule({
  title: "no comment has a line of more than 120 columns",
  sources: allHandWritten,
  breaches: longComments,
  bad: [
    ["a block", `/** ${"a".repeat(120)} */`],
    ["a line", `// ${"a".repeat(118)}`],
    ["a line in a block", `/**\n * ${"a".repeat(120)}\n */`],
  ],
});

declareRule({
  title: "no file or folder is called utils, common, helpers or lib",
  sources: handWritten,
  breaches: namedForNothing,
  bad: [
    ["utils", "", "src/utils/one.ts"],
    ["a file", "", "gateway/util.ts"],
    ["common", "", "src/common/one.ts"],
    ["helpers", "", "fixtures/helper.mts"],
    ["lib", "", "src/lib/one.ts"],
  ],
});
