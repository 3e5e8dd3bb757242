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

describe("the trace checker", () => {
  const phone: Question = {
    prompt: "What is the phone number of Ann Lee?",
    trace: (callTool) => callTool("search_contacts", { query: "ann lee", brief: true }),
    facts: () => ["+1 415 555 0100"],
  };
  const search: Question["trace"] = (callTool) => callTool("search", { query: "ann lee" });

  test.each<[string, Question, RegExp[]]>([
    ["that is correct", phone, []],
    [
      "whose results lack the fact",
      { ...phone, facts: () => ["+1 415 555 0199"] },
      [/^in no result: \+1 415 555 0199$/],
    ],
    ["without expected facts", { ...phone, facts: () => [] }, [/^no facts are expected$/]],
    ["without calls", { ...phone, trace: () => Promise.resolve() }, [/^in no result/]],
    [
      "with too many calls",
      {
        ...phone,
        trace: async (callTool, records) => [await phone.trace(callTool, records), await search(callTool, records)],
        bound: { calls: 1, tokens: 6_000 },
      },
      [/^2 calls, at most 1$/],
    ],
    ["with too many tokens", { ...phone, bound: { calls: 3, tokens: 50 } }, [/^\d+ tokens, at most 50$/]],
  ])("checks a trace %s", async (_, question, expected) => {
    expect(await problems(question)).toEqual(expected.map((one) => expect.stringMatching(one)));
  });

  test("rejects a failed call", async () => {
    const wrong: Question = { ...phone, trace: (callTool) => callTool("search_contacts", { query: "a" }) };
    await expect(problems(wrong)).rejects.toThrow(/query: /);
  });

  test("estimates tokens from the bytes of arguments and texts, three bytes per token", async () => {
    const { content } = await demo.client.callTool({ name: "search", arguments: { query: "ann lee" } });
    const sent = JSON.stringify({ name: "search", arguments: { query: "ann lee" } });
    const bytes = [sent, ...content.map((one) => (one.type === "text" ? one.text : ""))].map((text) =>
      Buffer.byteLength(text),
    );
    const { tokens, calls } = await checkTrace({ ...phone, trace: search }, demo.client, demo.records);
    expect([tokens, calls]).toEqual([Math.ceil(bytes.reduce((sum, one) => sum + one, 0) / 3), 1]);
  });
});
