// Every link of the guide has a target: a page, an anchor on it, or a file of the repository.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { listedIn } from "../../src/guide/source.ts";
import type { Page } from "./pages.ts";
import { anchorsOf, codeOf, guide, readPage, root } from "./pages.ts";

const pages = [
  ...guide,
  ...[
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "deploy/README.md",
    "client/README.md",
    "examples/README.md",
  ].map(readPage),
];

function linksOf(prose: string): string[] {
  return [...prose.replace(/`[^`]*`/g, "code").matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
}

/** What is wrong with a link from a page; undefined where it leads somewhere. */
function problemOf(from: string, target: string): string | undefined {
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? from : relative(root, join(root, dirname(from), path));
  if (!existsSync(join(root, file))) return `${from}: ${target} is not there`;
  if (anchor === undefined) return undefined;
  return anchorsOf(readPage(file)).has(anchor) ? undefined : `${from}: ${target} names no heading`;
}

test.each(pages.map((page) => [page.path, page] as const))("every link of %s has a target", (path, { prose }) => {
  const links = linksOf(prose);
  expect(links.filter((target) => !/^https?:/.test(target)).flatMap((target) => problemOf(path, target) ?? [])).toEqual(
    [],
  );
});

/** The links that name a page of the guide otherwise than the index does. */
function misnamed({ path, prose }: Page): string[] {
  const titles = new Map(
    listedIn(readPage("docs/README.md").text).map(({ file, title }) => [join("docs", file), title]),
  );
  return [...prose.matchAll(/\[([A-Z][^\]]*)\]\(([\w./-]+\.md)\)/g)].flatMap(([, text = "", target = ""]) => {
    const title = titles.get(join(dirname(path), target));
    return title === undefined || text === title || text === `Next: ${title}` ? [] : [`${text}: ${title}`];
  });
}

test.each(pages.map((page) => [page.path, page] as const))(
  "the text of a link of %s that begins with a capital letter is the title of its page",
  (_path, page) => expect(misnamed(page)).toEqual([]),
);

test("AGENTS.md names only files and folders that exist", () => {
  const paths = codeOf(readPage("AGENTS.md")).filter((code) => /^[\w.-]+(?:\/[\w.-]*)+$/.test(code));
  expect(paths.length).toBeGreaterThan(20);
  expect(
    paths.filter(
      (path) =>
        !["", "src", "src/guards", "src/contacts", "src/call", "test"].some((folder) =>
          existsSync(join(root, folder, path)),
        ),
    ),
  ).toEqual([]);
});

test("the index of the guide lists every page, and the README links to the guide", () => {
  const listed = linksOf(readPage("docs/README.md").prose);
  for (const { path } of guide) if (path !== "docs/README.md") expect(listed).toContain(path.replace("docs/", ""));
  expect(linksOf(readPage("README.md").prose)).toContain("docs/README.md");
});

test("every page of the guide ends with a link to the next one of the index, in its order", () => {
  const order = listedIn(readPage("docs/README.md").text).filter(({ file }) => !file.startsWith("../"));
  expect(order.map(({ file }) => `docs/${file}`).sort()).toEqual(
    guide.map(({ path }) => path).filter((path) => path !== "docs/README.md"),
  );
  for (const [at, path] of ["README.md", ...order.map(({ file }) => file)].entries()) {
    const next = order[at];
    const last = readPage(`docs/${path}`).text.trimEnd().split("\n").at(-1) ?? "";
    if (next === undefined) expect(last, path).not.toMatch(/^Next: /);
    else expect(last, path).toBe(`Next: [${next.title}](${next.file})`);
  }
});

test("every alert has its heading, and is in the table of alerts", () => {
  const { groups } = parse(readFileSync(join(root, "deploy/prometheus/alerts.yaml"), "utf8")) as {
    groups: { rules: { alert?: string; annotations?: { runbook_url: string } }[] }[];
  };
  const alerts = groups.flatMap(({ rules }) => rules).filter(({ alert }) => alert !== undefined);
  expect(alerts.length).toBeGreaterThan(5);
  const table = readPage("docs/observability.md").prose;
  for (const { alert = "", annotations } of alerts) {
    const [path = "", anchor = ""] = (annotations?.runbook_url ?? "").split("#");
    expect([...anchorsOf(readPage(path))], alert).toContain(anchor);
    expect(
      table.split("\n").find((line) => line.startsWith("|") && line.includes(alert)),
      alert,
    ).toContain(`#${anchor})`);
  }
});

test("a page opens with its purpose, and names nothing of one machine", () => {
  for (const { path, text, prose } of guide) {
    expect(prose, path).toMatch(/^# .+\n\n[A-Z`].+/);
    expect(text, path).not.toMatch(/\/(work|root|tmp)\/|\bTODO\b/);
  }
});
