// Runs traces: the calls that an assistant makes for a question. Measures their cost and checks that the results
// contain the expected facts.
import type { Client } from "@modelcontextprotocol/client";
import type { Records } from "./records.ts";

/** Calls a tool and returns the structured content of its result, of any shape. */
export type CallTool = (tool: string, given: Readonly<Record<string, unknown>>) => Promise<Record<string, any>>;

/** The maximum cost of a trace. */
export interface Bound {
  readonly calls: number;
  readonly tokens: number;
}

/** A user's question. */
export interface Question {
  readonly prompt: string;
  /** The limit, if it is not the usual one. */
  readonly bound?: Bound;
  /** Makes the calls in sequence, as later ones use results of earlier ones. */
  trace(callTool: CallTool, records: Records): Promise<unknown>;
  /** Texts that the results must contain. */
  facts(records: Records): readonly string[];
}

export interface Outcome extends Bound {
  readonly prompt: string;
  readonly bound: Bound;
  readonly facts: number;
  /** The facts that no result contains. */
  readonly missing: readonly string[];
}

const usual: Bound = { calls: 3, tokens: 6_000 };
/** An estimate without a tokenizer. The service limits its results with the same estimate. */
const bytesPerToken = 3;

/** Runs the trace of a question. Throws if a call fails. */
export async function checkTrace(
  { prompt, bound = usual, trace, facts }: Question,
  client: Client,
  records: Records,
): Promise<Outcome> {
  const results: string[] = [];
  let [calls, bytes] = [0, 0];
  const callTool: CallTool = async (name, given) => {
    calls++;
    const { content, isError, structuredContent } = await client.callTool({ name, arguments: given });
    const texts = content.map((one) => (one.type === "text" ? one.text : ""));
    if (isError === true) throw new Error(`${prompt} ${name} ${JSON.stringify(given)}: ${texts.join(" ")}`);
    for (const text of [JSON.stringify({ name, arguments: given }), ...texts]) bytes += Buffer.byteLength(text);
    results.push(...texts);
    return structuredContent as Record<string, unknown>;
  };
  await trace(callTool, records);
  const expected = facts(records);
  const isMissing = (fact: string): boolean =>
    !results.some((text) => text.includes(JSON.stringify(fact).slice(1, -1)));
  return {
    prompt,
    bound,
    calls,
    facts: expected.length,
    missing: expected.filter(isMissing),
    tokens: Math.ceil(bytes / bytesPerToken),
  };
}

/** The problems of an outcome; empty if it is good enough. */
export function problemsOf({ bound, calls, tokens, facts, missing }: Outcome): string[] {
  return [
    ...(calls > bound.calls ? [`${calls} calls, at most ${bound.calls}`] : []),
    ...(tokens > bound.tokens ? [`${tokens} tokens, at most ${bound.tokens}`] : []),
    ...(facts === 0 ? ["no facts are expected"] : []),
    ...missing.map((fact) => `in no result: ${fact.slice(0, 80)}`),
  ];
}
