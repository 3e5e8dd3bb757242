// Makes of an HTTP response either the body of a success or the error that it reports.
import { RecordsError } from "./error.ts";
import type { ErrorDetail } from "./types.ts";

/**
 * The body of a successful response. Throws a RecordsError for any other, also for one that is not the service's own,
 * such as the HTML page of a proxy. Unknown fields and enum values pass.
 */
export async function readResponse(response: Response): Promise<unknown> {
  const body = parse(await response.text());
  const { status } = response;
  const requestId = response.headers.get("x-request-id") ?? undefined;
  if (response.ok) {
    if (isObject(body) && "data" in body) return body;
    throw new RecordsError("The response is not from Records. Check baseUrl.", {
      status,
      code: "unreadable",
      requestId,
    });
  }
  if (response.type === "opaqueredirect" || (status >= 300 && status < 400)) {
    throw new RecordsError("The server redirects. Set baseUrl to the address that it redirects to.", {
      status,
      code: "unreadable",
      requestId,
    });
  }
  const error = isObject(body) && isObject(body["error"]) ? body["error"] : {};
  throw new RecordsError(
    typeof error["message"] === "string"
      ? error["message"]
      : `The response has the HTTP status ${status}, and no error message.`,
    {
      status,
      code: typeof error["code"] === "string" ? error["code"] : String(status),
      details: Array.isArray(error["details"]) ? (error["details"] as ErrorDetail[]) : [],
      requestId,
      retryAfter: seconds(response.headers.get("retry-after")),
    },
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `Retry-After` as the service writes it; a date, which a proxy may write, is left to the backoff. */
function seconds(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}
