// The accounts of the bench and their records, identical in every run, as the documents that the service stores.
import type { UUID } from "mongodb";
import { uuid } from "../../../src/db/mongo.ts";
import type { ContactDocument } from "../../../src/contacts/document.ts";
import { noContactTexts } from "../../../src/contacts/document.ts";
import { withDerivedFields } from "../../../src/contacts/write.ts";
import type { Random } from "../../fixtures/random.ts";
import { between, chance, createRandom, pick, stableId } from "../../fixtures/random.ts";
import type { NoteDocument } from "../../../src/notes/document.ts";
import { contactLabel, deriveNote } from "../../../src/notes/store.ts";
import type { SessionDocument } from "../../../src/sessions/document.ts";
import { deriveSession } from "../../../src/sessions/store.ts";
import { languages, noteLength, personName, sentences } from "./texts.ts";

/** The number of records of an account. */
export interface AccountSize {
  readonly contacts: number;
  readonly sessions: number;
  readonly notes: number;
}

/** An account of the data set. `name` is part of its email address. */
export interface AccountPlan extends AccountSize {
  readonly name: string;
}

export interface DataPlan {
  readonly name: "full" | "small";
  readonly accounts: readonly AccountPlan[];
}

export const mainAccount = "large";
/** The accounts for which searches are compared, smallest first. */
export const searchAccounts = ["little", "middle", mainAccount] as const;

const others = (count: number, size: AccountSize): AccountPlan[] =>
  Array.from({ length: count }, (_, at) => ({ name: `other-${at}`, ...size }));

export const fullData: DataPlan = {
  name: "full",
  accounts: [
    { name: mainAccount, contacts: 100_000, sessions: 100_000, notes: 1_000_000 },
    { name: "middle", contacts: 10_000, sessions: 10_000, notes: 100_000 },
    { name: "little", contacts: 1_000, sessions: 1_000, notes: 10_000 },
    ...others(1_000, { contacts: 200, sessions: 40, notes: 400 }),
  ],
};
export const smallData: DataPlan = {
  name: "small",
  accounts: [
    { name: mainAccount, contacts: 10_000, sessions: 300, notes: 3_000 },
    { name: "middle", contacts: 200, sessions: 100, notes: 1_000 },
    { name: "little", contacts: 100, sessions: 100, notes: 500 },
    ...others(3, { contacts: 20, sessions: 10, notes: 40 }),
  ],
};

const start = Date.UTC(2023, 0, 1);
const end = Date.UTC(2025, 12, 0);

/** The records of an account, in order of creation. */
export interface AccountRecords {
  contacts(): Iterable<ContactDocument>;
  sessions(): Iterable<SessionDocument>;
  notes(): Iterable<NoteDocument>;
}

/** The id of a record, derived from the account's name, the kind and the number. */
export function recordId(account: string, kind: "contact" | "session" | "note", at: number): string {
  return stableId(`${account}/${kind}/${at}`);
}

export function recordsOf({ name, ...size }: AccountPlan, account_id: UUID): AccountRecords {
  const people: Pick<ContactDocument, "full_name" | "inferred_name" | "email">[] = [];
  const titles: string[] = [];
  const idOf = (kind: "contact" | "session" | "note", at: number): UUID => uuid(recordId(name, kind, at));
  const timeOf = (random: Random, at: number, of: number): Date =>
    new Date(start + Math.floor(((at + random()) / of) * (end - start)));

  return {
    *contacts() {
      const random = createRandom(`${name}/contacts`);
      for (let at = 0; at < size.contacts; at++) {
        const person = personName(random);
        const full = `${person.first} ${person.last}`;
        const inferred = chance(random, 0.2);
        const created_at = timeOf(random, at, size.contacts);
        const contact = withDerivedFields({
          ...noContactTexts,
          _id: idOf("contact", at),
          account_id,
          version: 1,
          full_name: inferred ? null : full,
          email: chance(random, 0.85)
            ? `${person.first}.${person.last}${at}@${pick(random, ["mail", "acme", "north", "proton"])}.example.com`.toLowerCase()
            : null,
          phone: chance(random, 0.7)
            ? `+1 (${between(random, 200, 999)}) ${between(random, 200, 999)}-${between(random, 1_000, 9_999)}`
            : null,
          notes: chance(random, 0.3) ? sentences(random, languages[0], 120) : null,
          memory: chance(random, 0.6) ? sentences(random, languages[0], 400) : null,
          ...{
            inferred_name: inferred ? full : null,
            created_at,
            updated_at: created_at,
            archived_at: chance(random, 0.03) ? created_at : null,
            rank: 0,
          },
        });
        people.push(contact);
        yield contact;
      }
    },
    *sessions() {
      const random = createRandom(`${name}/sessions`);
      for (let at = 0; at < size.sessions; at++) {
        const of = Math.floor(random() * size.contacts);
        const { full_name = null, inferred_name = null, email = null } = people[of] ?? {};
        const session_date = timeOf(random, at, size.sessions);
        const title = sentences(random, languages[0], between(random, 15, 45));
        titles.push(title);
        yield deriveSession({
          ...{
            _id: idOf("session", at),
            account_id,
            version: 1,
            contact_id: idOf("contact", of),
            client: { full_name, inferred_name, email },
          },
          title,
          subtitle: chance(random, 0.5) ? sentences(random, languages[0], 50) : null,
          ...{
            session_date,
            session_date_end: new Date(session_date.getTime() + 3_600_000),
            recording_status: "completed",
            source: "calendar",
          },
          ...{
            conference_provider: "zoom",
            conference_url: `https://zoom.example.com/j/${at}`,
            provider_doc_url: null,
          },
          created_at: session_date,
          updated_at: session_date,
        });
      }
    },
    *notes() {
      const random = createRandom(`${name}/notes`);
      for (let at = 0; at < size.notes; at++) {
        const kind = chance(random, 0.7) ? "contact" : "session";
        const of = Math.floor(random() * (kind === "contact" ? size.contacts : size.sessions));
        const created_at = timeOf(random, at, size.notes);
        yield deriveNote({
          _id: idOf("note", at),
          account_id,
          kind,
          parent_id: idOf(kind, of),
          label:
            kind === "session"
              ? (titles[of] ?? null)
              : contactLabel(people[of] ?? { full_name: null, inferred_name: null, email: null }),
          ...{
            type: "user_manual",
            title: kind === "session" ? "Summary" : null,
            title_slug: kind === "session" ? "summary" : null,
            position: at % 7,
          },
          ...{
            content: noteText(random),
            source: kind === "contact" ? "api" : null,
            created_at,
            updated_at: created_at,
          },
        });
      }
    },
  };
}

/**
 * Three of five notes are in the first language, the others in the second. One of a thousand switches language halfway.
 */
function noteText(random: Random): string {
  const length = noteLength(random);
  const [own, other] = chance(random, 0.6) ? languages : [languages[1], languages[0]];
  return chance(random, 0.001)
    ? `${sentences(random, own, length / 2)} ${sentences(random, other, length / 2)}`
    : sentences(random, own, length);
}
