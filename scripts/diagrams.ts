// Draws the guide's diagrams: boxes on a grid and the lines between them, as SVG for light and dark pages.
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { html, trusted } from "../src/text/html.ts";

export const diagramsFolder = "docs/diagrams";
const box = { width: 216, height: 76 };
const gap = { x: 72, y: 56 };
const margin = 12;
/** The number of characters that fit on one line of a box's description. */
const lineLength = 28;

interface Box {
  readonly column: number;
  readonly row: number;
  readonly name: string;
  readonly words: readonly string[];
}

interface Point {
  readonly x: number;
  readonly y: number;
}

export function generateDiagrams(): true {
  for (const { file, drawn } of diagrams()) writeFileSync(file, drawn);
  return true;
}

/** Whether every SVG is up to date with its description. */
export function areDiagramsGenerated(): boolean {
  return diagrams().every(({ file, drawn }) => existsSync(file) && readFileSync(file, "utf8") === drawn);
}

function diagrams(): { file: string; drawn: string }[] {
  const names = readdirSync(diagramsFolder).filter((name) => name.endsWith(".txt"));
  return names.map((name) => {
    const path = join(diagramsFolder, name);
    return { file: path.replace(/\.txt$/, ".svg"), drawn: drawDiagram(readFileSync(path, "utf8")) };
  });
}

/**
 * Draws a description: `title`, then `box id column row Name | what it is`, then `line from to label`. Throws on
 * anything else, and if a line names a missing box.
 */
export function drawDiagram(description: string): string {
  const boxes = new Map<string, Box>();
  const lines: string[] = [];
  let title = "";
  for (const line of description.split("\n").filter((one) => one !== "" && !one.startsWith("#"))) {
    const [, kind, rest = ""] = /^(title|box|line) +(.+)$/.exec(line) ?? [];
    if (kind === "title") title = rest;
    else if (kind === "box") {
      const [, id = "", column, row, name = "", words = ""] =
        /^(\w+) +(\d) +(\d) +([^|]+?) *\| *(.+)$/.exec(rest) ?? [];
      boxes.set(id, { column: Number(column), row: Number(row), name, words: wrapped(words) });
    } else if (kind === "line") {
      const [from = "", to = "", ...label] = rest.split(" ");
      lines.push(connection(boxNamed(boxes, from), boxNamed(boxes, to), label.join(" ")));
    } else throw new Error(`invalid line: ${line}`);
  }
  const all = [...boxes.values()];
  const corner = center({
    column: Math.max(...all.map((one) => one.column)),
    row: Math.max(...all.map((one) => one.row)),
  });
  const size = [corner.x + box.width / 2 + margin, corner.y + box.height / 2 + margin].join(" ");
  return html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size}" role="img" aria-label="${title}">
<style>
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: #57606a; text-anchor: middle; }
.name { font-size: 15px; font-weight: 600; fill: #1b1f24; }
.label { font-size: 12px; }
.beside { text-anchor: start; }
rect { fill: #eef4fd; stroke: #b9d0f2; }
path { fill: none; stroke: #7b8490; stroke-width: 1.5; }
.tip { fill: #7b8490; stroke: none; }
@media (prefers-color-scheme: dark) {
text { fill: #a4acb6; }
.name { fill: #e8eaed; }
rect { fill: #1a2636; stroke: #35507a; }
path { stroke: #79828d; }
.tip { fill: #79828d; }
}
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>
${trusted(lines.join("\n"))}
${trusted(all.map(drawBox).join("\n"))}
</svg>
`.toString();
}

function boxNamed(boxes: ReadonlyMap<string, Box>, id: string): Box {
  const found = boxes.get(id);
  if (found === undefined) throw new Error(`unknown box: ${id}`);
  return found;
}

function center({ column, row }: Pick<Box, "column" | "row">): Point {
  const x = margin + (column - 1) * (box.width + gap.x) + box.width / 2;
  return { x, y: margin + (row - 1) * (box.height + gap.y) + box.height / 2 };
}

function drawBox(one: Box): string {
  const { x, y } = center(one);
  const words = one.words.map(
    (line, at) => html`<text x="${String(x)}" y="${String(y + 10 + at * 17)}">${line}</text>`,
  );
  return html`<rect x="${String(x - box.width / 2)}" y="${String(y - box.height / 2)}" width="${String(box.width)}" height="${String(box.height)}" rx="10"/>
<text class="name" x="${String(x)}" y="${String(y - 11)}">${one.name}</text>${trusted(words.join(""))}`.toString();
}

/** A line from edge to edge: straight within a row or column, otherwise with two bends between the rows. */
function connection(from: Box, to: Box, label: string): string {
  const [start, end] = [center(from), center(to)];
  const across = Math.sign(end.x - start.x);
  const down = Math.sign(end.y - start.y);
  const middle = { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 };
  const path =
    down === 0
      ? `M${start.x + (across * box.width) / 2} ${start.y}H${end.x - (across * box.width) / 2}`
      : `M${start.x} ${start.y + (down * box.height) / 2}V${middle.y}H${end.x + across * -24}V${end.y - (down * box.height) / 2}`;
  const drawn = html`<path marker-end="url(#tip)" d="${path}"/>`.toString();
  if (label === "") return drawn;
  // To the right of a vertical line and above a horizontal one, so that the line does not strike through the label.
  const [place, x, y] = down === 0 ? ["label", middle.x, middle.y - 7] : ["label beside", middle.x + 10, middle.y + 4];
  return `${drawn}\n${html`<text class="${place}" x="${String(x)}" y="${String(y)}">${label}</text>`.toString()}`;
}

/** Two lines at most, of whole words. */
function wrapped(words: string): string[] {
  if (words.length <= lineLength) return [words];
  const at = words.lastIndexOf(" ", Math.min(lineLength, Math.ceil(words.length / 2) + 6));
  return [words.slice(0, at), words.slice(at + 1)];
}
