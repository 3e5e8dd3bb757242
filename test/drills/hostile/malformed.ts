// Sends requests that the HTTP parser rejects, and checks each response (contract §2.3, §2.8).
import { rejected } from "../../fixtures/clients/malformed.ts";
import { exchange } from "../../fixtures/clients/raw.ts";

/** Returns how many were sent, and what was wrong with the responses. */
export async function checkMalformed(
  base: string,
  key: string,
): Promise<{ readonly count: number; readonly wrong: readonly string[] }> {
  const wrong = await Promise.all(
    rejected.map(async ([name, status, message]) => {
      const { responses, closed } = await exchange(
        base,
        typeof message === "string" ? message.replaceAll("{key}", key) : message,
        20_000,
      );
      const [response] = responses;
      if (response === undefined || responses.length > 1) return [`${name}: ${responses.length} responses`];
      const { error } = parsed(response.body);
      return [
        ...(response.status === status ? [] : [`${name}: ${response.status} instead of ${status}`]),
        ...(error?.code === String(status) && typeof error.message === "string" && error.message !== ""
          ? []
          : [`${name}: no envelope: ${response.body}`]),
        ...["ratelimit-limit", "ratelimit-policy", "x-request-id"]
          .filter((header) => !response.headers.has(header))
          .map((header) => `${name}: no ${header}`),
        ...(closed ? [] : [`${name}: the connection stays open`]),
      ];
    }),
  );
  return { count: rejected.length, wrong: wrong.flat() };
}

function parsed(body: string): { readonly error?: { readonly code?: unknown; readonly message?: unknown } } {
  try {
    return JSON.parse(body) as ReturnType<typeof parsed>;
  } catch {
    return {};
  }
}
