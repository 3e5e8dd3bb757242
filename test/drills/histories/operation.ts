// The history: every operation of every client, when it was sent and completed, and what is known of it.

/** The fields of a contact that the clients write and read. */
export interface Fields {
  readonly full_name: string | null;
  readonly email: string | null;
  readonly phone: string | null;
}

/** What a client knows of an operation when it has ended. */
export type Outcome =
  /** It happened. */
  | "ok"
  /** It did not happen, and never will. */
  | "failed"
  /** Nobody knows: the response was 503 or 500, or there was none. */
  | "unknown";

/** What an operation does; each kind uses some of the properties below. */
export type Kind =
  /** Writes `wrote` to the contact; `saw` is the contact in the response. */
  | "set"
  /** Reads the contact: `saw`, `notes`; `missing` where the response was 404. */
  | "get"
  /** Searches contacts by the name `searched`: `saw`, or `missing`. */
  | "search"
  /** Reads the contact's name from a session. */
  | "copy"
  /** Appends the note `value` to the contact. */
  | "append"
  /** Creates a contact with the name `value` and the idempotency key `value`. */
  | "create"
  /** Presents the credential. */
  | "use"
  /** Ends the credential: `value` says how. */
  | "end"
  /** Sets a switch: `value` is `publicInterface off`, and so on. */
  | "switch";

/** One operation. Times are milliseconds of the drill's clock. */
export interface Operation {
  readonly client: string;
  readonly instance: string;
  readonly kind: Kind;
  readonly wire: string;
  readonly sent: number;
  readonly completed: number;
  readonly outcome: Outcome;
  /** The status or the code; for people, except that a write returned 503 has to end then. */
  readonly status: string;
  readonly contact?: string;
  readonly wrote?: Partial<Fields>;
  readonly saw?: Partial<Fields>;
  readonly missing?: boolean;
  readonly searched?: string;
  readonly notes?: readonly string[];
  readonly value?: string;
  /** The id of a record that the service made. */
  readonly id?: string;
  /** The name of a credential; never the credential. */
  readonly credential?: string;
  /** What the public interface's switches concern: whether it reads or writes records. */
  readonly records?: "read" | "write";
}

/** What a client says of an operation before it is sent. */
export type Intent = Pick<Operation, "client" | "instance" | "kind" | "wire"> &
  Partial<Pick<Operation, "contact" | "wrote" | "searched" | "value" | "credential" | "records">>;

/** What the response adds. */
export type Result = Pick<Operation, "outcome" | "status"> &
  Partial<Pick<Operation, "saw" | "missing" | "notes" | "id">>;

/** The drill's clock: milliseconds, monotonic, and comparable with the clocks of the servers on this machine. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

/** Collects operations. */
export interface History {
  readonly operations: Operation[];
  /** Sends an operation and records it; without a response its outcome is unknown. */
  record(intent: Intent, send: () => Promise<Result>): Promise<Operation>;
}

/** Every request of a correct service is served within 5 seconds. */
const patienceMs = 12_000;

/** An empty history. */
export function createHistory(): History {
  const operations: Operation[] = [];
  return {
    operations,
    async record(intent, send) {
      const sent = now();
      const result = await responseOf(send);
      const operation: Operation = { ...intent, ...result, sent, completed: now() };
      operations.push(operation);
      return operation;
    },
  };
}

async function responseOf(send: () => Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const none = new Promise<Result>(
    (resolve) => (timer = setTimeout(() => resolve({ outcome: "unknown", status: "none in time" }), patienceMs)),
  );
  try {
    return await Promise.race([none, send()]);
  } catch (error) {
    return { outcome: "unknown", status: `none (${String(error)})` };
  } finally {
    clearTimeout(timer);
  }
}
