// A gateway behind real servers of both HTTP versions, with a fake dispatch.
import { createServer as createHttp1, request as requestHttp1 } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect as connectHttp2, createServer as createHttp2 } from "node:http2";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { DescMethodUnary, DescMessage, Message, MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { createGateway } from "../../gateway/handler.ts";
import type { Failure, Violation } from "../../src/call/errors.ts";
import { rejectInput } from "../../src/call/errors.ts";
import type { Inbound, Observation, RpcResponse } from "../../src/call/dispatch.ts";
import { holdBody } from "../../src/http/continue.ts";

export type Version = "HTTP/1.1" | "HTTP/2";

/** What the fake dispatch does; each can be replaced for one test. */
export interface Behaviour {
  throttle(): Promise<void>;
  admit(rpc: DescMethodUnary, inbound: Inbound): Promise<void>;
  respond(rpc: DescMethodUnary, message: Message): Promise<RpcResponse>;
  headViolations(fields: readonly string[]): readonly Violation[];
}

/** A running gateway and what reached it. */
export interface Running {
  readonly port: number;
  /** The calls of the dispatch, in order, and 100 Continue: `throttle`, `admit GetContact`, `continue`. */
  readonly steps: string[];
  readonly messages: Message[];
  readonly violations: (readonly Violation[])[];
  readonly errors: Failure[];
  /** What the gateway observed of the requests. */
  readonly observation: Observation;
  /** How many requests have been handed to the gateway and are not done. */
  pending(): number;
  send(
    method: string,
    path: string,
    options?: { headers?: Record<string, string>; body?: string | Buffer },
  ): Promise<Received>;
  close(): Promise<void>;
}

export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  readonly bytes: Buffer;
}

/** A response that holds these fields. */
export function responseOf<Output extends DescMessage>(schema: Output, init: MessageInitShape<Output>): RpcResponse {
  return { message: create(schema, init), replayed: false, body: undefined };
}

/**
 * Starts a gateway whose dispatch admits everything, rejects what has violations and returns an empty message. `known`
 * is what the listener knows of each request.
 */
export async function startGateway(
  version: Version,
  behaviour: Partial<Behaviour> = {},
  known: Partial<Inbound> = {},
): Promise<Running> {
  const steps: string[] = [];
  const messages: Message[] = [];
  const violations: (readonly Violation[])[] = [];
  const errors: Failure[] = [];
  const observation: Observation = {};
  let pending = 0;
  const gateway = createGateway({
    documentProvider: "google",
    onError: (failure) => void errors.push(failure),
    dispatch: {
      async throttle() {
        steps.push("throttle");
        await behaviour.throttle?.();
      },
      async admit(rpc, received) {
        steps.push(`admit ${rpc.name}`);
        await behaviour.admit?.(rpc, received);
        return {
          async invoke(message, found = []) {
            steps.push(`invoke ${rpc.name}`);
            messages.push(message);
            violations.push(found);
            if (found.length > 0) rejectInput(found);
            return behaviour.respond
              ? behaviour.respond(rpc, message)
              : { message: create(rpc.output), replayed: false, body: undefined };
          },
          reject: async (found) => rejectInput(found),
          prove: async () => undefined,
          headViolations: (_message, fields = []) => behaviour.headViolations?.(fields) ?? [],
        };
      },
    },
  });
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    pending += 1;
    response.setHeader("X-Request-Id", "r1");
    if (request.headers.origin !== undefined) response.setHeader("Vary", "Origin");
    void gateway(request, response, { ...inbound, ...known, observation }).then(() => (pending -= 1));
  };
  const server =
    version === "HTTP/2"
      ? createHttp2((request, response) =>
          handle(request as unknown as IncomingMessage, response as unknown as ServerResponse),
        )
      : createHttp1(handle);
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    holdBody(request, () => {
      steps.push("continue");
      response.writeContinue();
    });
    handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    steps,
    messages,
    violations,
    errors,
    observation,
    pending: () => pending,
    send: (method, path, { headers = {}, body } = {}) => {
      const all = body === undefined ? headers : { "content-type": "application/json", ...headers };
      return version === "HTTP/2" ? sendHttp2(port, method, path, all, body) : sendHttp1(port, method, path, all, body);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ("closeAllConnections" in server) server.closeAllConnections();
      }),
  };
}

const inbound: Inbound = { header: () => undefined, address: "127.0.0.1", requestId: "r1", arrivedAt: 0 };

function sendHttp1(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string>,
  body: string | Buffer | undefined,
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const request = requestHttp1({ port, host: "127.0.0.1", method, path, headers, agent: false }, (response) => {
      buffer(response).then(
        (bytes) =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers as Received["headers"],
            body: bytes.toString(),
            bytes,
          }),
        reject,
      );
    });
    request.on("error", reject);
    request.end(body);
  });
}

function sendHttp2(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string>,
  body: string | Buffer | undefined,
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    session.on("error", reject);
    const stream = session.request({ ":method": method, ":path": path, ...headers }, { endStream: body === undefined });
    stream.on("error", reject);
    stream.on("response", (head) => {
      const plain = Object.fromEntries(Object.entries(head).filter(([name]) => !name.startsWith(":")));
      buffer(stream).then((bytes) => {
        session.close();
        resolve({
          status: Number(head[":status"]),
          headers: plain as Received["headers"],
          body: bytes.toString(),
          bytes,
        });
      }, reject);
    });
    if (body !== undefined) stream.end(body);
  });
}
