// The requests of the drill's clients. Each goes to one instance over one wire and is recorded with its outcome.
import type { Fields as Request, Outcome as WireOutcome, Rpc, WireName } from "../../fixtures/clients/wires.ts";
import { openWires } from "../../fixtures/clients/wires.ts";
import type { Fields, History, Intent, Operation, Outcome, Result } from "./operation.ts";
import type { Site } from "./site.ts";

/** Who calls which instance over which wire. */
export type From = Pick<Intent, "client" | "instance"> & { readonly wire: WireName };

/** A request, and how to read its response. */
interface RecordedCall {
  readonly intent: Omit<Intent, "client" | "instance" | "wire">;
  readonly rpc: Rpc;
  readonly request: Request;
  readonly idempotencyKey?: string;
  readonly key?: string;
  read?(data: Shown): Partial<Result>;
}

interface Shown extends Fields {
  readonly id: string;
  readonly notes_timeline: readonly { readonly content: string }[];
  readonly client: { readonly full_name: string | null } | null;
}

export interface Calls {
  set(from: From, contact: string, wrote: Partial<Fields>): Promise<Operation>;
  get(from: From, contact: string): Promise<Operation>;
  search(from: From, contact: string, name: string): Promise<Operation>;
  copy(from: From, contact: string, session: string): Promise<Operation>;
  append(from: From, contact: string, note: string, keyed: boolean): Promise<Operation>;
  create(from: From, name: string): Promise<Operation>;
  /** Calls the internal listener over Connect with JSON. `read` extracts the result from the response. */
  internal(intent: Intent, rpc: string, body: object, read?: (body: unknown) => Partial<Result>): Promise<Operation>;
  close(): void;
}

/** Creates calls to the instances of a site that are recorded in a history. */
export function createCalls(site: Site, history: History): Calls {
  const opened = new Map<string, ReturnType<typeof openWires>>();
  const wireTo = (instance: string, name: WireName) => {
    const { base } = site.instance(instance);
    const wires = opened.get(base) ?? openWires({ base });
    opened.set(base, wires);
    return wires.wires.find((wire) => wire.name === name) as (typeof wires.wires)[number];
  };
  function call(from: From, { intent, rpc, request, read, ...more }: RecordedCall): Promise<Operation> {
    return history.record({ ...from, ...intent }, async () => {
      const outcome = await wireTo(from.instance, from.wire).call({ rpc, request, key: site.account.key, ...more });
      const { data } = (outcome.body ?? {}) as { data?: Shown };
      const result = resultOf(outcome, intent.records === "write");
      return {
        ...result,
        ...(data !== undefined && read?.(data)),
        ...(outcome.http === 404 || outcome.code === "not_found" ? { missing: true } : {}),
      };
    });
  }

  return {
    set: (from, contact, wrote) =>
      call(from, {
        intent: { kind: "set", contact, wrote, records: "write" },
        rpc: "UpdateContact",
        request: { contact_id: contact, ...wrote },
        read: (data) => ({ saw: fieldsOf(data) }),
      }),
    get: (from, contact) =>
      call(from, {
        intent: { kind: "get", contact, records: "read" },
        rpc: "GetContact",
        request: { contact_id: contact },
        read: (data) => ({ saw: fieldsOf(data), notes: data.notes_timeline.map(({ content }) => content) }),
      }),
    search: (from, contact, name) =>
      call(from, {
        intent: { kind: "search", contact, searched: name, records: "read" },
        rpc: "SearchContacts",
        request: { query: name },
        read: (data) => {
          const found = (data as unknown as readonly Shown[]).find(({ id }) => id === contact);
          return found === undefined ? { missing: true } : { saw: fieldsOf(found) };
        },
      }),
    copy: (from, contact, session) =>
      call(from, {
        intent: { kind: "copy", contact, records: "read" },
        rpc: "GetSession",
        request: { session_id: session },
        read: ({ client }) => ({ saw: { full_name: client?.full_name ?? null } }),
      }),
    append: (from, contact, note, keyed) =>
      call(from, {
        intent: { kind: "append", contact, value: note, records: "write" },
        rpc: "AppendContactNote",
        request: { contact_id: contact, content: note },
        ...(keyed && { idempotencyKey: note }),
        read: ({ id }) => ({ id }),
      }),
    create: (from, name) =>
      call(from, {
        intent: { kind: "create", value: name, records: "write" },
        rpc: "CreateContact",
        request: { full_name: name },
        idempotencyKey: name,
        read: ({ id }) => ({ id }),
      }),
    internal: (intent, rpc, body, read) =>
      history.record(intent, async () => {
        const response = await site.instance(intent.instance).internalCall(rpc, body);
        return {
          ...httpResult(response.status, response.text, true),
          ...(response.status === 200 && read?.(response.body)),
        };
      }),
    close() {
      for (const { close } of opened.values()) close();
    },
  };
}

/** A 503 because of an operator's switch means that nothing was written. */
const switchedOff = /temporarily disabled|Writes are temporarily unavailable/;

/** Returns the outcome that an HTTP status implies. */
export function httpResult(status: number, text: string, writes: boolean): Result {
  if (status < 400) return { outcome: "ok", status: String(status) };
  const certain = status < 500 || (status === 503 && switchedOff.test(text));
  return {
    outcome: certain ? "failed" : "unknown",
    status: certain && status === 503 && !writes ? "503 switched off" : String(status),
  };
}

function resultOf({ http, code, reason, message = "" }: WireOutcome, writes: boolean): Result {
  if (http !== undefined) return httpResult(http, message, writes);
  if (code === "ok") return { outcome: "ok", status: "ok" };
  // Without a reason, the error comes from the connection and not from the service.
  if (reason === undefined) return { outcome: "unknown", status: `none (${code})` };
  const unknown = code === "internal" || (code === "unavailable" && !switchedOff.test(message));
  const outcome: Outcome = unknown ? "unknown" : "failed";
  return { outcome, status: code === "unavailable" ? "503" : (code ?? "") };
}

function fieldsOf({ full_name, email, phone }: Shown): Fields {
  return { full_name: full_name ?? null, email: email ?? null, phone: phone ?? null };
}
