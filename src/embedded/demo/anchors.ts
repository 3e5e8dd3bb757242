// The people of the demo account whom the documentation and the tests know by name.
import type { Slots } from "./template.ts";
import texts from "./texts/known-people.json" with { type: "json" };

/** Their names; they are active contacts of the profile "demo", with an email, notes and sessions. */
export const anchors = {
  annLee: "Ann Lee",
  /** The one with more notes than a timeline shows. */
  joseAlvarez: "José Álvarez",
  /** The one with a note of exactly 10,000 code points. */
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

/** What is settled about somebody beforehand; the rest is drawn. */
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
  /** Past and future sessions, and drawn timeline notes. */
  readonly past: number;
  readonly future: number;
  readonly notes: number;
  readonly freeText?: string;
  readonly memory?: string;
  /** Slots that are not drawn, so that all notes describe the same life. */
  readonly life?: Slots;
  /** Timeline notes that are not drawn, newest first. */
  readonly ownNotes?: readonly string[];
}

/** The anchors, in the order in which they come first among the contacts. */
export const knownPeople = texts.demo as readonly KnownPerson[];

/** The people of the account "second" who are settled: one whose name is nearly Ann Lee's. */
export const knownOfSecond = texts.second as readonly KnownPerson[];
