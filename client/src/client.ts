// The client: an operation of the REST interface is a method.
import type { Call, CallOptions } from "./call.ts";
import { createCall } from "./call.ts";
import type { RecordsClientOptions } from "./options.ts";
import { everyRecord } from "./pages.ts";
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

/** What a write takes that can be repeated safely. */
export interface WriteOptions extends CallOptions {
  /**
   * Names the write, 1 to 128 characters from `!` to `~`: for 24 hours the same key with the same content writes
   * nothing more. Without one the client makes one for the call, the same for all its attempts.
   */
  readonly idempotencyKey?: string | undefined;
}

/** As many as the service puts on a page. */
const largestPage = 25;

/**
 * A client of one account. Every method rejects with a `RecordsError` when the call did not succeed.
 * Reads, and the writes that have an idempotency key, are repeated after 429, 502, 503, 504 and a lost connection;
 * `contacts.update` only after 429, where it was certainly not carried out.
 */
export class RecordsClient {
  readonly contacts: Contacts;
  readonly sessions: Sessions;
  readonly notes: Notes;
  readonly #call: Call;

  /** Throws a TypeError when an option is wrong. Sends nothing yet. */
  constructor(options: RecordsClientOptions) {
    this.#call = createCall(options);
    this.contacts = new Contacts(this.#call);
    this.sessions = new Sessions(this.#call);
    this.notes = new Notes(this.#call);
  }

  /** Whether the service works; the one call that needs no key. */
  async health(options: CallOptions = {}): Promise<Health> {
    return (await this.#call("get", "/v1/health", {}, { ...options, repeatable: "any" })).data;
  }
}

/** The people of the account. */
class Contacts {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /**
   * Active contacts that match, at most 25: by beginnings of words of the names and the email, or of the phone's
   * digits.
   */
  async search(query: ContactQuery, options: CallOptions = {}): Promise<Contact[]> {
    return (await this.#call("get", "/v1/contacts", { query }, { ...options, repeatable: "any" })).data;
  }

  /** The contact, archived or not. 404 when the account has none of this id. */
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

  /** Creates a contact once, however often it has to be sent. 409 when an active contact has the email. */
  async create(contact: NewContact, options: WriteOptions = {}): Promise<Contact> {
    return (await this.#call("post", "/v1/contacts", { body: contact }, once(options))).data;
  }

  /**
   * Changes what is given; `email` or `phone` null clears it. 404, or 409 when it is archived or the email is taken.
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

  /** Appends a note once, however often it has to be sent. 404, or 409 when the contact is archived. */
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

/** The conversations and meetings of the account. */
class Sessions {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /** One page, newest first. `from` and `to` are dates (`2026-01-31`, the whole UTC day) or date-times, inclusive. */
  async list(query: SessionQuery = {}, options: CallOptions = {}): Promise<Page<SessionSummary>> {
    return this.#call("get", "/v1/sessions", { query }, { ...options, repeatable: "any" });
  }

  /** Every session of the list, page by page: `for await (const session of client.sessions.all())`. */
  all(query: SessionQuery = {}, options: CallOptions = {}): AsyncGenerator<SessionSummary, void, undefined> {
    return everyRecord((page) => this.list(page, options), { limit: largestPage, ...query });
  }

  /** The session with its notes. 404 when the account has none of this id. */
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

  /** What was said; its text is null as long as there is none. 404 when the account has no such session. */
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

/** The notes of contacts and of sessions together. */
class Notes {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /** One page of the notes that match, newest first, each cut to 1,000 characters. */
  async search(query: NoteQuery, options: CallOptions = {}): Promise<Page<NoteSearchResult>> {
    return this.#call("get", "/v1/notes", { query }, { ...options, repeatable: "any" });
  }

  /** Every note that matches, page by page. */
  all(query: NoteQuery, options: CallOptions = {}): AsyncGenerator<NoteSearchResult, void, undefined> {
    return everyRecord((page) => this.search(page, options), { limit: largestPage, ...query });
  }
}

function once({ idempotencyKey = crypto.randomUUID(), ...options }: WriteOptions) {
  return { ...options, idempotencyKey, repeatable: "any" } as const;
}
