// REST client with a method for each operation on records and for the health check.
import type { Call, CallOptions } from "./call.ts";
import { createCall } from "./call.ts";
import type { RecordsClientOptions } from "./options.ts";
import type {
  Contact,
  ContactChanges,
  ContactQuery,
  ContactTimelineNote,
  Health,
  NewContact,
  NewNote,
  NoteQuery,
  NoteSearchResult,
  Page,
  SessionDetail,
  SessionQuery,
  SessionSummary,
  Transcript,
} from "./types.ts";

/** Options of a write that can be repeated safely. */
export interface WriteOptions extends CallOptions {
  /**
   * Identifies the write, with 1 to 128 characters from `!` to `~`. For 24 hours, the same key with the same content
   * does not write again. By default the client generates a key for each call, and uses it for all attempts.
   */
  readonly idempotencyKey?: string | undefined;
}

/** The service's maximum page size. */
const largestPage = 25;

/**
 * A client of one account. Every method rejects with a `RecordsError` if the call fails. An aborted call rejects with
 * the signal's reason, and an invalid argument with a TypeError. Retries reads, and writes with an idempotency key,
 * after 429, 502, 503, 504, a lost connection or a timed-out attempt. Retries `contacts.update` only after 429, because
 * the service has then certainly not carried it out.
 */
export class RecordsClient {
  readonly contacts: Contacts;
  readonly sessions: Sessions;
  readonly notes: Notes;
  readonly #call: Call;

  /** Throws a TypeError if an option is invalid. Sends no request. */
  constructor(options: RecordsClientOptions) {
    this.#call = createCall(options);
    this.contacts = new Contacts(this.#call);
    this.sessions = new Sessions(this.#call);
    this.notes = new Notes(this.#call);
  }

  /** Checks whether the service works. This is the only call that needs no API key. */
  async health(options: CallOptions = {}): Promise<Health> {
    return (await this.#call("get", "/v1/health", {}, { ...options, repeatable: "any" })).data;
  }
}

/** Operations on the account's contacts. */
class Contacts {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /**
   * Returns up to 25 active contacts. Every word of the query must begin a word of a name, the email or the phone. A
   * phone also matches by its first digits.
   */
  async search(query: ContactQuery, options: CallOptions = {}): Promise<Contact[]> {
    return (await this.#call("get", "/v1/contacts", { query }, { ...options, repeatable: "any" })).data;
  }

  /**
   * Returns a contact, including an archived one. Rejects with status 404 if the account has no contact with this id.
   */
  async get(id: string, options: CallOptions = {}): Promise<Contact> {
    return (
      await this.#call(
        "get",
        "/v1/contacts/{contact_id}",
        { path: { contact_id: id } },
        { ...options, repeatable: "any" },
      )
    ).data;
  }

  /**
   * Creates a contact, only once despite retries. Rejects with status 409 if an active contact already has the email.
   */
  async create(contact: NewContact, options: WriteOptions = {}): Promise<Contact> {
    return (await this.#call("post", "/v1/contacts", { body: contact }, once(options))).data;
  }

  /**
   * Changes the given fields. `null` clears `email` or `phone`. Rejects with status 404 if the account has no contact
   * with this id. Rejects with 409 if the contact is archived or another active contact has the email.
   */
  async update(id: string, changes: ContactChanges, options: CallOptions = {}): Promise<Contact> {
    return (
      await this.#call(
        "patch",
        "/v1/contacts/{contact_id}",
        { path: { contact_id: id }, body: changes },
        { ...options, repeatable: "rejected" },
      )
    ).data;
  }

  /**
   * Appends a note, only once despite retries. Rejects with status 404 if the account has no contact with this id.
   * Rejects with 409 if the contact is archived.
   */
  async appendNote(id: string, note: NewNote, options: WriteOptions = {}): Promise<ContactTimelineNote> {
    return (
      await this.#call(
        "post",
        "/v1/contacts/{contact_id}/notes",
        { path: { contact_id: id }, body: note },
        once(options),
      )
    ).data;
  }
}

/** Operations on the account's sessions: conversations and meetings. */
class Sessions {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /**
   * Returns one page of sessions, newest first. `from` and `to` are inclusive, and are dates (`2026-01-31`, the whole
   * UTC day) or date-times.
   */
  async list(query: SessionQuery = {}, options: CallOptions = {}): Promise<Page<SessionSummary>> {
    return this.#call("get", "/v1/sessions", { query }, { ...options, repeatable: "any" });
  }

  /** Iterates over all matching sessions, page by page: `for await (const session of client.sessions.all())`. */
  all(query: SessionQuery = {}, options: CallOptions = {}): AsyncGenerator<SessionSummary, void, undefined> {
    return everyRecord((page) => this.list(page, options), { limit: largestPage, ...query });
  }

  /** Returns a session with its notes. Rejects with status 404 if the account has no session with this id. */
  async get(id: string, options: CallOptions = {}): Promise<SessionDetail> {
    return (
      await this.#call(
        "get",
        "/v1/sessions/{session_id}",
        { path: { session_id: id } },
        { ...options, repeatable: "any" },
      )
    ).data;
  }

  /**
   * Returns the transcript of a session. Its text is `null` until there is one. Rejects with status 404 if the account
   * has no session with this id.
   */
  async transcript(id: string, options: CallOptions = {}): Promise<Transcript> {
    return (
      await this.#call(
        "get",
        "/v1/sessions/{session_id}/transcript",
        { path: { session_id: id } },
        { ...options, repeatable: "any" },
      )
    ).data;
  }
}

/** Operations on the notes of contacts and sessions. */
class Notes {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /** Returns one page of matching notes, newest first. Each text is cut to 1,000 characters. */
  async search(query: NoteQuery, options: CallOptions = {}): Promise<Page<NoteSearchResult>> {
    return this.#call("get", "/v1/notes", { query }, { ...options, repeatable: "any" });
  }

  /** Iterates over all matching notes, page by page. */
  all(query: NoteQuery, options: CallOptions = {}): AsyncGenerator<NoteSearchResult, void, undefined> {
    return everyRecord((page) => this.search(page, options), { limit: largestPage, ...query });
  }
}

function once({ idempotencyKey = crypto.randomUUID(), ...options }: WriteOptions) {
  return { ...options, idempotencyKey, repeatable: "any" } as const;
}

/**
 * Yields every record of a list from `offset` on, and requests each page when it is needed. Each page shows the list at
 * the time of its request. If records are added or removed meanwhile, a record can be repeated or missed.
 */
async function* everyRecord<Query extends { offset?: number }, Item>(
  page: (query: Query) => Promise<Page<Item>>,
  query: Query,
): AsyncGenerator<Item, void, undefined> {
  let offset: number | null = query.offset ?? 0;
  while (offset !== null) {
    const { data, pagination }: Page<Item> = await page({ ...query, offset });
    yield* data;
    const next: number | null = pagination.has_more ? pagination.next_offset : null;
    // An offset that does not advance would repeat a page forever.
    offset = next !== null && next > offset ? next : null;
  }
}
