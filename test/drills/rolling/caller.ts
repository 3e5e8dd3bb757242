// A caller of several instances. It only retries on another instance if a connection is refused or not accepted.
import { ContactService } from "../../../src/gen/records/v1/contacts_pb.ts";
import type { Account } from "../../fixtures/service/fixture.ts";
import type { Reply } from "../load/connection.ts";
import { requestText } from "../load/connection.ts";
import type { Pool } from "../load/pool.ts";
import { createPool } from "../load/pool.ts";
import type { GrpcConnection } from "../load/grpc.ts";
import { callRpc, openGrpc } from "../load/grpc.ts";
import { countEach } from "../load/load.ts";

/** Calls the instances in a list. */
export interface Caller {
  /** The addresses; the list may change at any time. */
  readonly bases: string[];
  /**
   * Sends one request of the mix to the next instance: a read or a write with a key, over REST or gRPC. Rejects if
   * there is no response.
   */
  send(number: number): Promise<Reply>;
  /** Counts rejected connections and streams by code. After each, another instance was tried. */
  rejections(): string;
  written(): number;
  /** Opens idle connections to every instance. */
  warm(connections: number): Promise<void>;
  close(): void;
}

/** A caller that reads this contact and creates others. */
export function createCaller({ key }: Account, contactId: string, bases: string[]): Caller {
  const pools = new Map<string, Pool>();
  const sessions = new Map<string, Promise<GrpcConnection>>();
  const authorization = `Bearer ${key}`;
  const rejections: string[] = [];
  let [written, turn] = [0, 0];

  const poolTo = (base: string): Pool => kept(pools, base, () => createPool(base));
  async function sessionTo(base: string): Promise<GrpcConnection> {
    const known = sessions.get(base);
    if (known !== undefined && (await known).usable) return known;
    const opening = openGrpc(base);
    sessions.set(base, opening);
    opening.catch(() => sessions.delete(base));
    return opening;
  }

  /** Tries the instances in turn until one accepts the connection. */
  async function anywhere<T>(send: (base: string) => Promise<T>): Promise<T> {
    const first = turn++;
    for (let attempt = 0; ; attempt++) {
      try {
        return await send(bases[(first + attempt) % bases.length] ?? "");
      } catch (error) {
        const code = error instanceof Error && "code" in error ? String(error.code) : "";
        if (!rejected.has(code) || attempt >= 10) throw error;
        rejections.push(code);
      }
    }
  }

  async function overRest(request: string): Promise<Reply> {
    return anywhere((base) => poolTo(base).send(request));
  }
  async function overGrpc(number: number, writes: boolean): Promise<Reply> {
    const { status, detail } = await anywhere(async (base) => {
      const session = await sessionTo(base);
      const { createContact, getContact } = ContactService.method;
      const keyed = { authorization, "idempotency-key": `g${number}` };
      return writes
        ? callRpc(session, createContact, { fullName: `g${number}` }, keyed)
        : callRpc(session, getContact, { contactId }, { authorization });
    });
    return { status: status === 0 ? (writes ? 201 : 200) : status, headers: new Map(), closes: false, body: detail };
  }

  return {
    bases,
    async send(number) {
      const kind = number % 6;
      let reply: Reply;
      if (kind < 2)
        reply = await overRest(requestText("GET", `/v1/contacts/${contactId}`, { Authorization: authorization }));
      else if (kind < 4)
        reply = await overRest(
          requestText(
            "POST",
            "/v1/contacts",
            { Authorization: authorization, "Idempotency-Key": `r${number}` },
            { full_name: `r${number}` },
          ),
        );
      else reply = await overGrpc(number, kind === 5);
      if (reply.status === 201) written += 1;
      return reply;
    },
    rejections: () => countEach(rejections),
    written: () => written,
    async warm(connections) {
      for (const base of bases) await poolTo(base).warm(connections);
    },
    close() {
      for (const pool of pools.values()) pool.close();
      for (const session of sessions.values())
        void session.then(
          (open) => open.close(),
          () => undefined,
        );
    },
  };
}

/** Creates the contact that a caller reads, and returns its id. */
export async function someContact(base: string, key: string): Promise<string> {
  const pool = createPool(base);
  try {
    const { status, body } = await pool.send(
      requestText("POST", "/v1/contacts", { Authorization: `Bearer ${key}` }, { full_name: "Ann Lee" }),
    );
    if (status !== 201) throw new Error(`creating a contact failed: ${status} ${body}`);
    return (JSON.parse(body) as { data: { id: string } }).data.id;
  } finally {
    pool.close();
  }
}

/**
 * A connection was refused, or reset by the kernel because the port closed meanwhile, or a stream was refused after a
 * GOAWAY.
 */
const rejected: ReadonlySet<string> = new Set(["ECONNREFUSED", "NOT_ACCEPTED", "REFUSED_STREAM"]);

function kept<V>(map: Map<string, V>, name: string, make: () => V): V {
  const known = map.get(name);
  if (known !== undefined) return known;
  const made = make();
  map.set(name, made);
  return made;
}
