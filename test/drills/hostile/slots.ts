// The places outside a body that take text: headers, path segments and query parameters.
import type { Request } from "./requests.ts";
import type { Sent } from "../isolation/raw.ts";
import type { Status, Wire } from "./wire.ts";

/** One way to put text somewhere. */
export interface Way {
  readonly name: string;
  /** Sizes in bytes. A case picks one of them as its maximum. */
  readonly maxBytes: readonly number[];
  /** The encoded size of the text; undefined if the place cannot hold it. */
  bytesOf(text: string): number | undefined;
  /** Undefined if the text cannot be sent there. */
  send(text: string): Promise<Status | undefined>;
}

/** A place, and all ways to reach it. */
export interface Slot {
  readonly name: string;
  readonly ways: readonly Way[];
}

/** Every header in every request over every version of HTTP, with and without its usual prefix. */
export function headerSlots(headers: readonly string[], requests: readonly Request[], wires: readonly Wire[]): Slot[] {
  const starts: Readonly<Record<string, readonly string[]>> = {
    authorization: ["", "Bearer "],
    cookie: ["", "records_session="],
  };
  return headers.flatMap((header) =>
    (starts[header] ?? [""]).map((start) => ({
      name: `${header}${start === "" ? "" : `, after ${JSON.stringify(start)}`}`,
      ways: wires
        .filter(({ lacks }) => !lacks.has(header))
        .flatMap((wire) => carried(requests, wire).map(({ name, sent }) => headerWay(header, start, name, sent, wire))),
    })),
  );
}

function headerWay(header: string, start: string, name: string, sent: Sent, wire: Wire): Way {
  return {
    name: `${name} over ${wire.version}`,
    maxBytes: [wire.maxBytes],
    bytesOf: (text) => (/[\0-\x08\x0a-\x1f\x7f]|\p{Surrogate}/u.test(text) ? undefined : Buffer.byteLength(text)),
    send: (text) =>
      wire.send({ ...sent, headers: { ...sent.headers, [header]: Buffer.from(start + text).toString("latin1") } }),
  };
}

/** Path segments, names and values of query parameters, and unknown paths. */
export function targetSlots(requests: readonly Request[], wires: readonly Wire[]): Slot[] {
  const slots = new Map<string, Way[]>();
  const add = (slot: string, request: Request, path: (text: string) => string): void => {
    const ways = wires.flatMap((wire) =>
      carried([request], wire).flatMap(({ name, sent }) =>
        [true, false].map((encoded) => pathWay(name, sent, wire, path, encoded)),
      ),
    );
    slots.set(slot, [...(slots.get(slot) ?? []), ...ways]);
  };
  for (const request of requests) {
    const [path = "", query] = request.sent.path.split("?");
    const parts = path.split("/");
    for (const [at, part] of parts.entries())
      if (/[0-9a-f]{8}-/.test(part)) add("a segment of a path", request, (text) => parts.with(at, text).join("/"));
    if (request.sent.method === "GET") {
      add("a name in a query", request, (text) => `${path}?${text}=1`);
      add("an unknown parameter", request, (text) => `${path}?unknown=${text}`);
    }
    for (const pair of query?.split("&") ?? []) {
      const [name = ""] = pair.split("=");
      add(
        `the parameter ${name}`,
        request,
        (text) => `${path}?${(query ?? "").replace(pair, () => `${name}=${text}`)}`,
      );
    }
    add("the end of a path", request, (text) => `${path}/${text}`);
  }
  return [...slots].map(([name, ways]) => ({ name, ways }));
}

function pathWay(name: string, sent: Sent, wire: Wire, path: (text: string) => string, encoded: boolean): Way {
  const written = (text: string): string => (encoded ? encodeURIComponent(text) : text);
  return {
    name: `${name}${encoded ? ", percent-encoded," : ""} over ${wire.version}`,
    maxBytes: [wire.maxBytes],
    bytesOf(text) {
      if (/\p{Surrogate}/u.test(text)) return undefined;
      const bytes = written(text);
      return /[^\x21-\x7e]/.test(bytes) ? undefined : bytes.length;
    },
    send: (text) => wire.send({ ...sent, path: path(written(text)) }),
  };
}

function carried(requests: readonly Request[], { version }: Wire): readonly Request[] {
  return requests.filter(({ http2Only }) => http2Only !== true || version === "HTTP/2");
}
