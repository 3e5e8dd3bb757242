// Traces: the calls that an assistant makes for a question, what they cost, and whether the expected facts are in their
// results.
import type { Client } from "@modelcontextprotocol/client";
import type { Records } from "./records.ts";

/** Calls a tool, and returns the structured content of its result. Traces read results of every shape. */
export type CallTool = (tool: string, given: Readonly<Record<string, unknown>>) => Promise<Record<string, any>>;

/** The most that the trace of a question may cost. */
export interface Bound {
  readonly calls: number;
  readonly tokens: number;
}

/** A question as a user asks it. */
export interface Question {
  readonly prompt: string;
  /** Where it is not the usual bound. */
  readonly bound?: Bound;
  /** Makes the calls, one after the other: what one returns the next one takes. */
  trace(callTool: CallTool, records: Records): Promise<unknown>;
  /** Texts of the records that the results must contain. */
  facts(records: Records): readonly string[];
}

/** What came of a trace. */
export interface Outcome extends Bound {
  readonly prompt: string;
  readonly bound: Bound;
  readonly facts: number;
  /** The facts that are in no result. */
  readonly missing: readonly string[];
}

const usual: Bound = { calls: 3, tokens: 6_000 };
/** An estimate that needs no model's tokenizer; the service bounds its results by the same. */
const bytesPerToken = 3;

/** Runs the trace of a question. Fails where a call is an error. */
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

/** Why an outcome is not good enough; empty where it is. */
export function troublesOf({ bound, calls, tokens, facts, missing }: Outcome): string[] {
  return [
    ...(calls > bound.calls ? [`${calls} calls, at most ${bound.calls}`] : []),
    ...(tokens > bound.tokens ? [`${tokens} tokens, at most ${bound.tokens}`] : []),
    ...(facts === 0 ? ["no fact is expected"] : []),
    ...missing.map((fact) => `in no result: ${fact.slice(0, 80)}`),
  ];
}
