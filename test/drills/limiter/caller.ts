// A caller of the limiter drill: uses one key on every instance, over REST and gRPC.
import { SessionService } from "../../../src/gen/records/v1/sessions_pb.ts";
import type { Fixture } from "../../fixtures/service/fixture.ts";
import type { Reply } from "../load/connection.ts";
import { requestText } from "../load/connection.ts";
import { callRpc, openGrpc } from "../load/grpc.ts";
import { createPool } from "../load/pool.ts";
import type { Seen } from "./laws.ts";

/** Sends requests to the instances in turn and records the outcomes. */
export interface Caller {
  readonly seen: (Seen & { readonly instance: number })[];
  /** Alternates between REST and gRPC. A gRPC status is mapped to an HTTP status. */
  send(number: number): Promise<Reply>;
  overRest(number: number): Promise<Reply>;
  /** Waits for the connections, without using the key. */
  connect(): Promise<void>;
  close(): void;
}

export function callerOf({ instances }: Fixture, key: string): Caller {
  const pools = instances.map(({ base }) => createPool(base));
  const sessions = instances.map(({ base }) => openGrpc(base));
  // Callers that await a session get its error.
  for (const session of sessions) session.catch(() => undefined);
  const seen: Caller["seen"] = [];
  const request = requestText("GET", "/v1/sessions", { Authorization: `Bearer ${key}` });

  async function sendOver(number: number, overGrpc: boolean): Promise<Reply> {
    const instance = number % instances.length;
    const sentAt = performance.now();
    const reply = await (overGrpc ? grpc(instance) : rest(instance));
    if (isDecided(reply)) seen.push({ sentAt, completedAt: performance.now(), passed: reply.status === 200, instance });
    return reply;
  }
  async function rest(instance: number): Promise<Reply> {
    const pool = pools[instance];
    if (pool === undefined) throw new Error("no such instance");
    return pool.send(request);
  }
  async function grpc(instance: number): Promise<Reply> {
    const session = await sessions[instance];
    if (session === undefined) throw new Error("no such instance");
    const metadata = { authorization: `Bearer ${key}` };
    const { status } = await callRpc(session, SessionService.method.listSessions, {}, metadata);
    const statuses: Readonly<Record<number, number>> = { 0: 200, 8: 429 };
    return { status: statuses[status] ?? 500, headers: new Map(), closes: false, body: `gRPC ${status}` };
  }
  return {
    seen,
    // Every instance gets requests over both wires, for any number of instances.
    send: (number) => sendOver(number, Math.floor(number / instances.length) % 2 === 1),
    overRest: (number) => sendOver(number, false),
    connect: () => Promise.all(sessions).then(() => undefined),
    close() {
      for (const pool of pools) pool.close();
      for (const session of sessions)
        void session.then(
          (open) => open.close(),
          () => undefined,
        );
    },
  };
}

export function isDecided({ status }: Reply): boolean {
  return status === 200 || status === 429;
}
