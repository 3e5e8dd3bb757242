// Sends many requests in one write on one connection, so that the instance receives all of them at once.
import { expect } from "vitest";
import type { RawResponse } from "../fixtures/clients/raw.ts";
import { exchange } from "../fixtures/clients/raw.ts";

/** The responses in their order; `lines` returns the header lines of each request. */
export async function pipelined(
  base: string,
  path: string,
  count: number,
  lines: (turn: number) => readonly string[] = () => [],
  method = "GET",
): Promise<readonly RawResponse[]> {
  const one = (turn: number): string =>
    [
      `${method} ${path} HTTP/1.1`,
      "Host: localhost",
      ...lines(turn),
      ...(turn === count - 1 ? ["Connection: close"] : []),
      "",
      "",
    ].join("\r\n");
  const { responses } = await exchange(base, Array.from({ length: count }, (_, turn) => one(turn)).join(""), 30_000);
  expect(responses).toHaveLength(count);
  return responses;
}

/** Each status that came back, and how often. */
export function tallied(responses: readonly { readonly status: number }[]): Record<number, number> {
  const tally: Record<number, number> = {};
  for (const { status } of responses) tally[status] = (tally[status] ?? 0) + 1;
  return tally;
}
