// Converts an HTTP response into the body of a success or into a RecordsError.
import { RecordsError } from "./error.ts";
import type { ErrorDetail } from "./types.ts";

/**
 * Returns the body of a successful response. Throws a RecordsError for any other response, such as a proxy's HTML page.
 * Accepts unknown fields and enum values.
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
      reason: typeof error["reason"] === "string" ? error["reason"] : undefined,
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

/**
 * Returns the seconds of `Retry-After` in the service's form. Ignores a date, which a proxy may send: the backoff
 * applies instead.
 */
function seconds(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}
