// The fairness check: verifies that all peers return the same responses before they are measured.
import { isDeepStrictEqual } from "node:util";
import { fromBinary, toJson } from "@bufbuild/protobuf";
import { GetContactResponseSchema } from "../../src/gen/records/v1/contacts_pb.ts";
import type { Line, Subject } from "./lines.ts";
import { sendOnce } from "../drills/load/connection.ts";
import { openGrpc } from "../drills/load/grpc.ts";
import type { LoadRequest } from "./load/load.ts";
import { uniqueMark } from "./load/load.ts";
import type { PeerName } from "./peers/peers.ts";

/** How many requests of a line to compare. */
const compared = 12;
let unique = 0;

/** Describes how the responses of a line differ. */
export async function differences(line: Line, portOf: (peer: PeerName) => number): Promise<string[]> {
  const found: string[] = [];
  for (const form of ["rest", "connect", "grpc"] as const) {
    const [first, ...others] = line.subjects.filter((one) => one.form === form);
    if (first === undefined) continue;
    for (let at = 0; at < Math.min(compared, first.requests.length); at++) {
      const expected = await responseOf(line, first, at, portOf);
      if (expected === undefined) found.push(`${line.name}: ${first.name} fails at request ${at}`);
      for (const other of others) {
        const response = await responseOf(line, other, at, portOf);
        if (!isDeepStrictEqual(response, expected))
          found.push(
            `${line.name}: ${other.name} responds to request ${at} differently than ${first.name}: ${brief(response)} instead of ${brief(expected)}`,
          );
      }
    }
  }
  return found;
}

/** The response as JSON, without server-generated values; undefined for a failure. */
async function responseOf(
  line: Line,
  { requests, peer }: Subject,
  at: number,
  portOf: (peer: PeerName) => number,
): Promise<unknown> {
  const text = await textOf(portOf(peer), requests[at % requests.length] as LoadRequest);
  return text === undefined ? undefined : (JSON.parse(line.writes ? withoutGenerated(text) : text) as unknown);
}

async function textOf(port: number, request: LoadRequest): Promise<string | undefined> {
  if (request.kind === "grpc") {
    const connection = await openGrpc(`http://127.0.0.1:${port}`);
    const { path, authorization } = request;
    const { status, message } = await connection.call(path, Buffer.from(request.message, "base64"), { authorization });
    connection.close();
    return status === 0
      ? JSON.stringify(toJson(GetContactResponseSchema, fromBinary(GetContactResponseSchema, message)))
      : undefined;
  }
  const number = String(Date.now() * 1_000 + (unique++ % 1_000)).slice(-uniqueMark.length);
  const bytes = request.bytes.replaceAll(uniqueMark, number);
  const { status, headers, bytes: body = Buffer.alloc(0) } = await sendOnce(`http://127.0.0.1:${port}`, bytes);
  if (status < 200 || status > 299) return undefined;
  return (headers.get("transfer-encoding") === "chunked" ? unchunked(body) : body).toString();
}

/** Replaces generated ids, times and unique numbers. */
function withoutGenerated(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "id")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "time")
    .replaceAll(/\d{12}/g, "number");
}

function unchunked(body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = body.indexOf("\r\n", at);
    const length = Number.parseInt(body.toString("latin1", at, end), 16);
    if (end === -1 || !(length > 0)) return Buffer.concat(parts);
    parts.push(body.subarray(end + 2, end + 2 + length));
    at = end + 4 + length;
  }
}

function brief(response: unknown): string {
  const text = JSON.stringify(response) ?? "a failure";
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
