// Checks the evals against their limits: every question takes few calls and few tokens.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Demo } from "./instance.ts";
import { withDemo } from "./instance.ts";
import { questions } from "./questions.ts";
import type { Question } from "./trace.ts";
import { checkTrace, problemsOf } from "./trace.ts";

let demo: Demo;
let end = (): void => undefined;
let ended: Promise<void>;
beforeAll(async () => {
  await new Promise<void>((begun, failed) => {
    ended = withDemo(async (one) => {
      demo = one;
      begun();
      await new Promise<void>((resolve) => (end = resolve));
    });
    ended.catch(failed);
  });
});
afterAll(async () => {
  end();
  await ended;
});

async function problems(question: Question): Promise<string[]> {
  return problemsOf(await checkTrace(question, demo.client, demo.records));
}

test("there are 44 questions, and only one may take more than 3 calls and 6,000 tokens [MCP-18]", () => {
  expect(new Set(questions.map(({ prompt }) => prompt)).size).toBe(44);
  expect(questions.flatMap(({ bound }) => bound ?? [])).toEqual([{ calls: 5, tokens: 12_000 }]);
});

describe("an assistant finds the facts within the limits [MCP-18]", () => {
  test.each(questions.map((question) => [question.prompt, question] as const))(
    "the question: %s",
    async (_, question) => {
      expect(await problems(question)).toEqual([]);
    },
  );
});
