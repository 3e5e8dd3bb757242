// Plots the goals as SVG: a bar for each goal, and the target line. Readable in light and dark mode.
import { goals, isReached } from "./goals.ts";
import type { Goal } from "./goals.ts";
import type { Results } from "./results.ts";

const [width, rowHeight, labelWidth, barWidth, top] = [1000, 28, 480, 340, 56];
/** Bars are relative to the goal, up to this many times. */
const most = 2.5;
const style = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328 } .small { font-size: 12px; fill: #59636e }
  .reached { fill: #2b7a4b } .missed { fill: #b3540f } .goal { stroke: #1f2328; stroke-width: 1.5; stroke-dasharray: 4 3 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .small { fill: #9198a1 } .reached { fill: #57b37f } .missed { fill: #f0883e } .goal { stroke: #f0f6fc }
  }`;

/** The content of `results.svg`. */
export function plot(results: Results): string {
  const measured = goals.flatMap((goal) => {
    const value = goal.value(results);
    return value === undefined ? [] : [{ goal, value }];
  });
  const height = top + measured.length * rowHeight + 12;
  const goalAt = labelWidth + barWidth / most;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="The goals of the bench and the results">`,
    `<style>${style}\n</style>`,
    `<text x="12" y="22">The goals of the bench on Node ${results.node}: measured values relative to the wanted ones</text>`,
    `<text class="small" x="${goalAt}" y="44" text-anchor="middle">wanted</text>`,
    ...measured.map(({ goal, value }, at) => bar(goal, value, top + at * rowHeight)),
    `<line class="goal" x1="${goalAt}" y1="${top - 6}" x2="${goalAt}" y2="${height - 8}"/>`,
    "</svg>\n",
  ].join("\n");
}

function bar(goal: Goal, value: number, y: number): string {
  // For an upper bound, less is better.
  const share = goal.sense === "at least" ? value / goal.wanted : goal.wanted / value;
  const length = (Math.min(most, share) / most) * barWidth;
  const words = `${value.toFixed(2)}, wanted ${goal.sense} ${goal.wanted}`;
  return [
    `<text x="${labelWidth - 10}" y="${y + 17}" text-anchor="end">${escaped(goal.title)}</text>`,
    `<rect class="${isReached(goal, value) ? "reached" : "missed"}" x="${labelWidth}" y="${y + 4}" width="${length.toFixed(1)}" height="18" rx="2"/>`,
    `<text class="small" x="${labelWidth + barWidth + 8}" y="${y + 17}">${escaped(words)}</text>`,
  ].join("\n");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
