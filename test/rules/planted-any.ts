// Texts with values of the type `any`, and texts that say at once what such a value is.

const parsed = "declare const text: string; const value = JSON.parse(text);";
const document = "declare const reply: Record<string, any>;";

/** Each breaks the rule. */
export const loose: readonly (readonly [what: string, text: string])[] = [
  ["what JSON.parse returns, without a type", parsed],
  ["a member of it", "declare const text: string; export const one = JSON.parse(text).one;"],
  [
    "a member of a member, with a type",
    "declare const text: string; export const one = JSON.parse(text).a.b as string;",
  ],
  ["what is given as another type", "declare const text: string; export const one: Date = JSON.parse(text);"],
  ["what a function returns", "export const read = (text: string) => JSON.parse(text);"],
  ["what a function returns as another type", "export const read = (text: string): Date => JSON.parse(text);"],
  ["a memory of anything", "export const known = new Map();"],
  ["a weak memory of anything", "export const known = new WeakMap();"],
  ["a promise of anything", "export const wait = new Promise<any>(() => undefined);"],
  [
    "the values of an object",
    "export const all = (some: object) => Object.values(some).map((one) => one.whatever.is());",
  ],
  ["a member that is called", `${document} reply["done"]();`],
  ["a member that is added to a number", `${document} export const sum = 1 + reply["count"];`],
  ["a member in a template", `${document} export const shown = \`\${reply["name"]}\`;`],
  ["a name from a pattern", `${document} const { name } = reply; export const shown = \`\${name}\`;`],
  ["a member, or something else", `${document} export const name: string = reply["name"] ?? "none";`],
  ["an argument", `${document} declare function take(name: string): void; take(reply["name"]);`],
  ["a spread", `${document} export const all = { ...reply["all"] };`],
  ["an export by default", "const one = 1; export { one as default };"],
];

/** Each keeps it. */
export const settled: readonly (readonly [what: string, text: string])[] = [
  ["a cast", "declare const text: string; export const one = JSON.parse(text) as { readonly one?: string };"],
  ["a cast of what is awaited", "declare const one: Promise<any>; export const two = (await one) as string;"],
  ["a name of the type unknown", "declare const text: string; export const value: unknown = JSON.parse(text);"],
  ["a result of the type unknown", "export const read = (text: string): unknown => JSON.parse(text);"],
  [
    "an argument of a function that examines",
    [
      "declare function check(value: unknown): string; declare const text: string;",
      "export const one = check(JSON.parse(text));",
    ].join("\n"),
  ],
  ["a comparison", `${document} export const isDone = reply["done"] === true;`],
  ["a conversion", `${document} export const count = Number(reply["count"]);`],
  ["a name from a pattern, with a cast", `${document} const { name } = reply; export const one = name as string;`],
  ["a memory with types", "export const known = new Map<string, number>();"],
  ["a memory whose types are expected", "export const known: ReadonlyMap<string, number> = new Map();"],
  ["an export by name", "const one = 1; export { one as two };"],
];
