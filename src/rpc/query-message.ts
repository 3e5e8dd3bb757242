// Reads the message of a Connect GET call from its URL.
import { base64Decode } from "@bufbuild/protobuf/wire";
import { readQuery, splitTarget } from "../http/query.ts";
import type { Request } from "../call/exchange.ts";
import type { Violation } from "../call/errors.ts";
import type { ReceivedMessage } from "./json-flaws.ts";
import { gzip } from "./gzip.ts";

const known: ReadonlySet<string> = new Set(["message", "base64", "encoding", "compression", "connect"]);

/** Returns the message as the library will read it, or the violations that prevent that. */
export function messageOfQuery({ url = "" }: Request): ReceivedMessage | { readonly violations: readonly Violation[] } {
  const violations: Violation[] = [];
  const parameters = readQuery(splitTarget(url).query, known, violations);
  const version = parameters.get("connect");
  if (version !== undefined && version !== "v1")
    violations.push({ field: "connect", rule: "version", message: "must be v1" });
  const text = parameters.get("message") ?? "";
  const data = parameters.get("base64") === "1" ? decodeBase64(text) : Buffer.from(text);
  if (data === undefined) violations.push({ field: "message", rule: "base64", message: "must be base64" });
  if (data === undefined || violations.length > 0) return { violations };
  return {
    data,
    isJson: parameters.get("encoding") === "json",
    isCompressed: parameters.get("compression") === gzip.name,
  };
}

/** Decodes base64 as the library does. Returns undefined if the library would throw. */
function decodeBase64(text: string): Buffer | undefined {
  try {
    return Buffer.from(base64Decode(text));
  } catch {
    return undefined;
  }
}
