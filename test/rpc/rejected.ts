// Expectations for rejected messages, for every form of a call.
import { expect } from "vitest";
import type { Form, Reply } from "./forms.ts";

/** The response is invalid_argument with these violations, and its message joins them. */
export function expectRejected(reply: Reply, form: Form, expected: readonly string[]): void {
  const { status, code, reason, message, violations } = reply;
  const text = expected.map((violation) => violation.replace(/^: /, "")).join("; ");
  expect({ code, reason, message, violations }, form.name).toEqual({
    code: "invalid_argument",
    reason: "INVALID_REQUEST",
    message: text,
    violations: expected,
  });
  expect(status, form.name).toBe(form.protocol === "connect" ? 400 : 200);
}

/** The response has one violation of the message as a whole, in the library's own words. */
export function expectUnreadable(reply: Reply, form: Form, words: string): void {
  const { status, code, reason, message, violations } = reply;
  expect({ code, reason, message, violations }, form.name).toEqual({
    code: "invalid_argument",
    reason: "INVALID_REQUEST",
    message: expect.stringContaining(words) as string,
    violations: [`: ${message}`],
  });
  expect(message?.length).toBeLessThanOrEqual(330);
  expect(status, form.name).toBe(form.protocol === "connect" ? 400 : 200);
}
