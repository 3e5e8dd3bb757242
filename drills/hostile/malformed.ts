// Sends requests that the HTTP parser rejects, and checks each response (contract §2.3, §2.8).
import { refused } from "../../fixtures/clients/malformed.ts";
import { exchange } from "../../fixtures/clients/raw.ts";

/** How many were sent, and what was wrong with the answers, in words. */
export async function judgeMalformed(
  base: string,
  key: string,
): Promise<{ readonly count: number; readonly wrong: readonly string[] }> {
  const wrong = await Promise.all(
    refused.map(async ([name, status, message]) => {
      const { answers, closed } = await exchange(
        base,
        typeof message === "string" ? message.replaceAll("{key}", key) : message,
        20_000,
      );
      const [answer] = answers;
      if (answer === undefined || answers.length > 1) return [`${name}: ${answers.length} answers`];
      const { error } = parsed(answer.body);
      return [
        ...(answer.status === status ? [] : [`${name}: ${answer.status} instead of ${status}`]),
        ...(error?.code === String(status) && typeof error.message === "string" && error.message !== ""
          ? []
          : [`${name}: no envelope: ${answer.body}`]),
        ...["ratelimit-limit", "ratelimit-policy", "x-request-id"]
          .filter((header) => !answer.headers.has(header))
          .map((header) => `${name}: no ${header}`),
        ...(closed ? [] : [`${name}: the connection stays open`]),
      ];
    }),
  );
  return { count: refused.length, wrong: wrong.flat() };
}

function parsed(body: string): { readonly error?: { readonly code?: unknown; readonly message?: unknown } } {
  try {
    return JSON.parse(body) as ReturnType<typeof parsed>;
  } catch {
    return {};
  }
}
