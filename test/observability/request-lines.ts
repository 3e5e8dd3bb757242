// The lines of requests in the log of an instance.
import { expect } from "vitest";
import { until } from "../../src/embedded/wait.ts";
import type { TestService } from "../fixtures/service/service.ts";

export type Line = Readonly<Record<string, unknown>>;

/** The lines that fit, once there is one. */
export async function linesOf(fits: (line: Line) => boolean, from: TestService): Promise<Line[]> {
  const find = (): Line[] =>
    from.logLines.map((line) => JSON.parse(line) as Line).filter((line) => line["msg"] === "request" && fits(line));
  await until(() => Promise.resolve(find().length > 0), AbortSignal.timeout(5_000)).catch(() => undefined);
  return find();
}

export async function lineOf(id: string, from: TestService): Promise<Line> {
  const [line] = await linesOf((one) => one["id"] === id, from);
  if (line === undefined) throw new Error("the request has no line");
  return line;
}

/** Matches a greater number. */
export const above = (least: number): unknown =>
  expect.toSatisfy((value: unknown) => typeof value === "number" && value > least);
