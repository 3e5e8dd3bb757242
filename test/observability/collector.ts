// A collector of traces for tests: takes OTLP over HTTP on a free port and decodes what arrives.
import { createServer } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { BinaryReader } from "@bufbuild/protobuf/wire";

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root. */
  readonly parentId: string;
  readonly name: string;
  /** 2 is a server's, 3 a client's. */
  readonly kind: number;
  /** 2 is an error. */
  readonly status: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
}

export interface Collector {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  /** The resource of the last export. */
  resource(): ReceivedSpan["attributes"];
  readonly exports: { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  text(): string;
  stop(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const exports: Collector["exports"] = [];
  const bodies: Buffer[] = [];
  let resource: ReceivedSpan["attributes"] = {};
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const received = Buffer.concat(chunks);
      const body = request.headers["content-encoding"] === "gzip" ? gunzipSync(received) : received;
      bodies.push(body);
      exports.push({ path: request.url ?? "", headers: request.headers });
      for (const resourceSpans of fieldsOf(body).messages(1)) {
        const [described] = fieldsOf(resourceSpans).messages(1);
        if (described !== undefined) resource = attributesOf(described, 1);
        for (const scope of fieldsOf(resourceSpans).messages(2)) spans.push(...fieldsOf(scope).messages(2).map(spanOf));
      }
      response.writeHead(200, { "Content-Type": "application/x-protobuf" }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    exports,
    resource: () => resource,
    text: () => Buffer.concat(bodies).toString("latin1"),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** opentelemetry.proto.trace.v1.Span. */
function spanOf(bytes: Uint8Array): ReceivedSpan {
  const fields = fieldsOf(bytes);
  const [status] = fields.messages(15);
  return {
    traceId: hex(fields.messages(1)[0]),
    spanId: hex(fields.messages(2)[0]),
    parentId: hex(fields.messages(4)[0]),
    name: text(fields.messages(5)[0]),
    kind: fields.number(6),
    status: status === undefined ? 0 : fieldsOf(status).number(3),
    attributes: attributesOf(bytes, 9),
  };
}

function attributesOf(bytes: Uint8Array, field: number): ReceivedSpan["attributes"] {
  return Object.fromEntries(
    fieldsOf(bytes)
      .messages(field)
      .map((pair) => {
        const [key, value = new Uint8Array()] = [fieldsOf(pair).messages(1)[0], fieldsOf(pair).messages(2)[0]];
        const [string] = fieldsOf(value).messages(1);
        return [text(key), string === undefined ? fieldsOf(value).number(3) : text(string)];
      }),
  );
}

interface Fields {
  /** The values of a field of text, bytes or messages. */
  messages(field: number): Uint8Array[];
  number(field: number): number;
}

function fieldsOf(bytes: Uint8Array): Fields {
  const reader = new BinaryReader(bytes);
  const long = new Map<number, Uint8Array[]>();
  const numbers = new Map<number, number>();
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (type === 2) long.set(field, [...(long.get(field) ?? []), reader.bytes()]);
    else if (type === 0) numbers.set(field, Number(reader.int64()));
    else reader.skip(type, field);
  }
  return { messages: (field) => long.get(field) ?? [], number: (field) => numbers.get(field) ?? 0 };
}

const hex = (bytes: Uint8Array = new Uint8Array()): string => Buffer.from(bytes).toString("hex");
const text = (bytes: Uint8Array = new Uint8Array()): string => Buffer.from(bytes).toString();
