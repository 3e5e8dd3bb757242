// Runs a table of cases on every wire: checks the stated status and code, that all wires return the same body, and that
// a failure writes nothing.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ingestInto } from "../fixtures/clients/ingest.ts";
import type { TestAccount, TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";
import type { Fields, Outcome, Rpc, Wire } from "../fixtures/clients/wires.ts";
import { openWires } from "../fixtures/clients/wires.ts";
import { counts } from "./client.ts";

/** The records that exist before the cases run. */
export interface World {
  readonly owner: TestAccount;
  readonly stranger: TestAccount;
  readonly reader: TestAccount;
  /** Records of the owner. */
  readonly contact: string;
  readonly archived: string;
  readonly session: string;
  /** Records of the others. */
  readonly strangers: { readonly contact: string; readonly session: string };
  readonly readers: { readonly contact: string };
  /** The email of the owner's contact. */
  readonly taken: string;
  fresh(): string;
}

/** A case: the request, and its expected outcome on every wire. A failure states its reason and message. */
export type Case = CaseRequest & (Success | Failure);

interface Success {
  readonly http: number;
  readonly code: "ok";
  readonly reason?: never;
  readonly message?: never;
}

interface Failure {
  readonly http: number;
  readonly code:
    | "invalid_argument"
    | "unauthenticated"
    | "permission_denied"
    | "not_found"
    | "already_exists"
    | "failed_precondition"
    | "aborted"
    | "unavailable";
  readonly reason: string;
  readonly message: string;
}

interface CaseRequest {
  /** A statement, with the ids of its clauses. */
  readonly title: string;
  readonly rpc: Rpc;
  /** The key to send: the owner's by default; null for none. */
  readonly key?: (world: World) => string | null;
  readonly idempotencyKey?: (world: World) => string;
  /** The fields of the request, created for each wire. */
  readonly request: (world: World) => Fields;
  /** The request over REST, if it differs. */
  readonly rest?: (world: World) => Fields;
  /** The message over REST, if it differs because REST parses the request itself. */
  readonly restMessage?: string;
  /** Fields of `data` that differ from call to call. */
  readonly volatile?: readonly string[];
  readonly check?: (body: { readonly data: never; readonly pagination: never }, world: World) => void;
}

/** The HTTP statuses of the Connect protocol (contract §9). */
const connectStatus = {
  ok: 200,
  invalid_argument: 400,
  unauthenticated: 401,
  permission_denied: 403,
  not_found: 404,
  already_exists: 409,
  failed_precondition: 400,
  aborted: 409,
  unavailable: 503,
} as const;

/** Declares a test for every case. `prepare` is called first, with the running service. */
export function runCases(
  cases: readonly Case[],
  prepare: (service: TestService, world: World) => Promise<void> = async () => undefined,
): void {
  let service: TestService;
  let wires: readonly Wire[];
  let close: () => void;
  let world: World;

  beforeAll(async () => {
    service = await startService();
    ({ wires, close } = openWires(service));
    world = await createWorld(service);
    await prepare(service, world);
  });
  afterAll(async () => {
    close();
    await service.stop();
  });

  for (const stated of cases) {
    test(stated.title, async () => {
      const outcomes: (readonly [Wire, Outcome])[] = [];
      const before = await counts(service);
      for (const wire of wires.filter((one) => one.serves(stated.rpc))) {
        const request = (wire.name === "rest" ? stated.rest : undefined) ?? stated.request;
        const key = stated.key === undefined ? world.owner.key : (stated.key(world) ?? undefined);
        const outcome = await wire.call({
          rpc: stated.rpc,
          key,
          idempotencyKey: stated.idempotencyKey?.(world),
          request: request(world),
        });
        outcomes.push([wire, outcome]);
      }
      const bodies: unknown[] = [];
      for (const [wire, outcome] of outcomes) {
        expectStated(stated, wire, outcome, (wire.name === "rest" ? stated.restMessage : undefined) ?? stated.message);
        if (stated.code !== "ok") continue;
        stated.check?.(outcome.body as never, world);
        bodies.push(settled(outcome.body, stated.volatile ?? []));
      }
      for (const body of bodies.slice(1)) expect(body).toEqual(bodies[0]);
      if (stated.code !== "ok") expect(await counts(service)).toEqual(before);
    });
  }
}

/** Checks an outcome against a case and this message. */
function expectStated(
  { http, code, reason }: Pick<Case, "http" | "code" | "reason">,
  wire: Pick<Wire, "name">,
  outcome: Outcome,
  message: string | undefined,
): void {
  const seen = {
    wire: wire.name,
    http: outcome.http,
    code: outcome.code,
    reason: outcome.reason,
    message: outcome.message,
  };
  const status = { rest: http, connect: connectStatus[code], grpc: undefined, "grpc-web": undefined }[wire.name];
  expect(seen).toEqual({
    wire: wire.name,
    http: status,
    code: wire.name === "rest" ? undefined : code,
    reason,
    message,
  });
  if (code !== "ok") expect(outcome.message).toMatch(/\S/);
}

function settled(body: unknown, names: readonly string[]): unknown {
  return JSON.parse(JSON.stringify(body, (name, value: unknown) => (names.includes(name) ? "differs" : value)));
}

async function createWorld(service: TestService): Promise<World> {
  const [owner, stranger, reader] = await Promise.all([
    service.account(),
    service.account(),
    service.account("read_only"),
  ]);
  const taken = "Taken@Example.com";
  const own = ingestInto(service, owner.id);
  const other = ingestInto(service, stranger.id);
  const contact = await own.contact({
    full_name: "Ann Lee",
    email: taken,
    phone: "+1 415 555 0100",
    memory: "Likes tea.",
    notes: "VIP",
  });
  const archived = await own.contact({ full_name: "Old Oak", archived_at: "2026-01-02T03:04:05Z" });
  const session = await own.session({
    title: "Budget",
    contact_id: contact,
    session_date: "2026-01-31T09:30:00Z",
    provider_doc_url: "https://docs.example/1",
  });
  await own.sessionNotes({
    session_id: session,
    content: "Agreed on the budget",
    type: "SESSION_NOTE_TYPE_AI_ASSISTANT",
    position: 1,
    created_at: "2026-02-01T00:00:00Z",
  });
  await own.contactNotes({
    contact_id: contact,
    content: "Asked for a budget",
    source: "import",
    created_at: "2026-02-02T00:00:00Z",
  });
  await own.transcript({
    session_id: session,
    transcript: "Hello.",
    recording: { id: randomUUID(), duration_seconds: 12.5, recording_started_at: "2026-01-31T09:30:01Z" },
  });
  const strangersContact = await other.contact({ full_name: "Ann Stranger" });
  const strangersSession = await other.session({
    title: "Budget elsewhere",
    contact_id: strangersContact,
    session_date: "2026-01-30T09:30:00Z",
  });
  await other.contactNotes({ contact_id: strangersContact, content: "A budget of others", source: "import" });
  const readersContact = await ingestInto(service, reader.id).contact({ full_name: "Ann Reader" });
  return {
    owner,
    stranger,
    reader,
    contact,
    archived,
    session,
    taken,
    strangers: { contact: strangersContact, session: strangersSession },
    readers: { contact: readersContact },
    fresh: () => randomUUID(),
  };
}
