// `npm run evals`: runs the questions against a service with the demo records and prints the cost of each.
import { withDemo } from "./instance.ts";
import { measureLatency } from "./latency.ts";
import { questions } from "./questions.ts";
import type { Outcome } from "./trace.ts";
import { checkTrace, problemsOf } from "./trace.ts";

const widths = [5, 14, 7, 0] as const;

if (process.argv.includes("--latency")) await printLatency();
else await printQuestions();

async function printLatency(): Promise<void> {
  const latencies = await withDemo((demo) => measureLatency(demo, console.error));
  console.log("medians in milliseconds    REST    tool   tool / REST");
  for (const { pace, rest, tool } of latencies) {
    const cells = [rest.toFixed(2).padStart(8), tool.toFixed(2).padStart(8), (tool / rest).toFixed(2).padStart(14)];
    console.log(`${pace.padEnd(23)}${cells.join("")}`);
  }
}

async function printQuestions(): Promise<void> {
  const columns = ["calls", "tokens", "facts", ""] as const;
  const outcomes = await withDemo(async ({ client, records }) => {
    const all: Outcome[] = [];
    for (const question of questions) all.push(await checkTrace(question, client, records));
    return all;
  });
  print("question", columns);
  for (const [at, outcome] of outcomes.entries()) {
    const { prompt, bound, calls, tokens, facts, missing } = outcome;
    const problems = problemsOf(outcome);
    const cells = [`${calls}/${bound.calls}`, `${tokens}/${bound.tokens}`, `${facts - missing.length}/${facts}`];
    print(`${at + 1}. ${prompt}`, [...cells, problems.length === 0 ? "ok" : problems.join("; ")]);
  }
  const failed = outcomes.filter((outcome) => problemsOf(outcome).length > 0).length;
  const sum = outcomes.reduce((tokens, outcome) => tokens + outcome.tokens, 0);
  console.log(
    `\n${outcomes.length} questions, ${failed} failed, ${sum} tokens (estimated: 3 bytes of UTF-8 per token)`,
  );
  process.exitCode = failed === 0 ? 0 : 1;
}

function print(question: string, cells: readonly string[]): void {
  const rest = cells.map((cell, at) => cell.padStart(widths[at] ?? 0)).join("  ");
  console.log(`${question.padEnd(82)}${rest}`);
}
