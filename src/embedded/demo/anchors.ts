// Contacts of the demo account that the documentation and the tests know by name.
import type { Slots } from "./template.ts";
import texts from "./texts/known-people.json" with { type: "json" };

/** Their full names. They are active contacts of the profile "demo", with an email, notes and sessions. */
export const anchors = {
  annLee: "Ann Lee",
  /** Has more notes than a timeline shows. */
  joseAlvarez: "José Álvarez",
  /** Has a note of exactly 10,000 code points. */
  sorenOdegard: "Søren Ødegård",
  wangXiaoming: "王小明",
  lukaszWisniewski: "Łukasz Wiśniewski",
  asaLindqvist: "Åsa Lindqvist",
  zoeMartin: "Zoë Martin",
  nguyenThiMai: "Nguyễn Thị Mai",
  eleniPapadopoulou: "Ελένη Παπαδοπούλου",
  olgaSokolova: "Ольга Соколова",
  laylaHaddad: "ليلى حداد",
  noamCohen: "נועם כהן",
  priyaSharma: "प्रिया शर्मा",
  satoHanako: "佐藤 花子",
  kimMinjun: "김민준",
  somchaiJaidee: "สมชาย ใจดี",
} as const;

/** The fixed facts about a contact. All others are drawn at random. */
export interface KnownPerson {
  readonly fullName: string;
  readonly first: string;
  readonly last: string;
  readonly gender: "f" | "m";
  readonly city: string;
  readonly company: string;
  readonly role: string;
  readonly email: string;
  readonly phone: string;
  readonly topics: readonly string[];
  /** The numbers of past sessions, future sessions and randomly drawn timeline notes. */
  readonly past: number;
  readonly future: number;
  readonly notes: number;
  readonly freeText?: string;
  readonly memory?: string;
  /** Slots with fixed values, so that all notes describe the same life. */
  readonly life?: Slots;
  /** Timeline notes with fixed texts, newest first. */
  readonly ownNotes?: readonly string[];
}

/** The known people of the account "demo", who are its first contacts, in this order. */
export const knownPeople = texts.demo as readonly KnownPerson[];

/** The known people of the account "second": one whose name is almost Ann Lee's. */
export const knownOfSecond = texts.second as readonly KnownPerson[];
