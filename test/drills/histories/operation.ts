// The history: every operation of every client, with its times and outcome.

/** The fields of a contact that the clients write and read. */
export const fieldNames = ["full_name", "email", "phone"] as const;
export type Fields = Readonly<Record<(typeof fieldNames)[number], string | null>>;

/** What a client knows about a completed operation. */
export type Outcome =
  | "ok"
  /** It did not happen and never will. */
  | "failed"
  /** The response was 503, 500 or missing. */
  | "unknown";

/** What an operation does. Each kind uses some of the properties below. */
export type Kind =
  /** Writes `wrote` to the contact; `saw` is the contact in the response. */
  | "set"
  /** Reads the contact: `saw`, `notes`; `missing` if the response was 404. */
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

/** One operation. Times are in milliseconds of the drill's clock. */
export interface Operation {
  readonly client: string;
  readonly instance: string;
  readonly kind: Kind;
  readonly wire: string;
  readonly sent: number;
  readonly completed: number;
  readonly outcome: Outcome;
  /** The status or code. For people, except that a write that got 503 must not take effect later. */
  readonly status: string;
  readonly contact?: string;
  readonly wrote?: Partial<Fields>;
  readonly saw?: Partial<Fields>;
  readonly missing?: boolean;
  readonly searched?: string;
  readonly notes?: readonly string[];
  readonly value?: string;
  /** The id of a created record. */
  readonly id?: string;
  /** The name of the credential, never the credential itself. */
  readonly credential?: string;
  /** Whether it reads or writes records, which decides which switches apply. */
  readonly records?: "read" | "write";
}

/** What is known about an operation before it is sent. */
export type Intent = Pick<Operation, "client" | "instance" | "kind" | "wire"> &
  Partial<Pick<Operation, "contact" | "wrote" | "searched" | "value" | "credential" | "records">>;

/** What is known from the response. */
export type Result = Pick<Operation, "outcome" | "status"> &
  Partial<Pick<Operation, "saw" | "missing" | "notes" | "id">>;

/** The drill's clock: monotonic milliseconds, comparable with the clocks of the servers on this machine. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

export interface History {
  readonly operations: Operation[];
  /** Sends an operation and records it. Without a response, the outcome is unknown. */
  record(intent: Intent, send: () => Promise<Result>): Promise<Operation>;
}

/** A correct service responds within 5 seconds. */
const patienceMs = 12_000;

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
