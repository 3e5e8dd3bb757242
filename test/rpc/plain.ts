// Requests to the public listener as they are on the wire, without a protocol library.
import { http2Call } from "../fixtures/clients/http2-call.ts";
import type { Sent } from "./forms.ts";

/** The path of an rpc that only reads, and is called by GET as well. */
export const read = "/records.v1.ContactService/GetContact";
/** The path of one that writes. */
export const write = "/records.v1.ContactService/CreateContact";

export interface Plain {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** One request over either HTTP, and the response as it is on the wire. */
export async function plain(
  base: string,
  http: 1 | 2,
  method: string,
  path: string,
  headers: Sent = {},
  text?: string,
): Promise<Plain> {
  // As bytes, because `fetch` would give a text a content type.
  const body = text === undefined ? undefined : Buffer.from(text);
  if (http === 1) {
    const response = await fetch(base + path, { method, headers, ...(body !== undefined && { body }) });
    return { status: response.status, headers: new Map(response.headers), body: await response.text() };
  }
  const received = await http2Call(base, { ":method": method, ":path": path, ...headers }, body);
  return {
    status: received.status,
    headers: new Map(Object.entries(received.headers).map(([name, value]) => [name, String(value)])),
    body: received.text,
  };
}
