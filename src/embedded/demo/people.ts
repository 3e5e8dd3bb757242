// Generates the people of an account: their names, contact details and companies, and how long they have been known.
import { fold } from "../../search/fold.ts";
import type { KnownPerson } from "./anchors.ts";
import { allCities, type City } from "./cities.ts";
import type { Name, NamePool } from "./names.ts";
import { namePools, nativeNames } from "./names.ts";
import { inDigits, otherDigits } from "./phones.ts";
import type { DemoProfile } from "./profiles.ts";
import { profiles } from "./profiles.ts";
import { between, chance, createRandom, deck, pick, stableId, type Random } from "./random.ts";
import lives from "./texts/lives.json" with { type: "json" };
import type { Topic } from "./topics.ts";
import { coachingTopics, projects, topicOf } from "./topics.ts";

/** The relation of a person to the owner of the account. */
export type Bond = "client" | "lead" | "partner" | "friend" | "imported";

/** A person who becomes a contact. `since` and `archived` are days relative to today; the past is negative. */
export interface Person {
  readonly id: string;
  readonly fullName: string | undefined;
  readonly inferredName: string | undefined;
  /** The given name in notes, in Latin letters. */
  readonly first: string;
  readonly gender: "f" | "m";
  readonly city: City;
  readonly company: string;
  readonly role: string;
  readonly email: string | undefined;
  readonly phone: string | undefined;
  readonly bond: Bond;
  readonly topics: readonly Topic[];
  readonly since: number;
  readonly archived: number | undefined;
  /** The fixed facts, for some people. */
  readonly known: KnownPerson | undefined;
}

/** Names that exercise search: two identical ones, and one whose words begin like Ann Lee's. */
const namesakes: readonly Name[] = [
  { fullName: "David Miller", first: "David", last: "Miller", gender: "m" },
  { fullName: "David Miller", first: "David", last: "Miller", gender: "m" },
  { fullName: "Annika Leeson", first: "Annika", last: "Leeson", gender: "f" },
];

/** Returns the people of an account, always the same ones. Those with fixed facts come first. */
export function createPeople(profile: DemoProfile): Person[] {
  const { known, contacts, native, imported, nameless, archived } = profiles[profile];
  const random = createRandom(`${profile}/people`);
  const unique = createUnique(random, known);
  const company = deck(random, lives.companies);
  const nativeName = deck(random, nativeNames);
  const people = known.map((person, at) => knownPerson(idOf(at), person, -between(random, 400, 900)));
  const twin = known.find(({ fullName }) => fullName === "José Álvarez");
  // A duplicate that was imported without the accents, noticed and archived. Its email is that of the original.
  if (twin !== undefined)
    people.push({
      ...knownPerson(idOf(people.length), twin, -300),
      fullName: "Jose Alvarez",
      bond: "imported",
      archived: -280,
      known: undefined,
    });
  const special: Name[] = [...(profile === "demo" ? namesakes : []), ...Array.from({ length: native }, nativeName)];
  const drawn = contacts - people.length;
  for (let at = 0; at < drawn; at++) people.push(draw(at));
  return people;

  function idOf(at: number): string {
    return stableId(`${profile}/contact/${at}`);
  }

  function draw(at: number): Person {
    const fromEnd = drawn - 1 - at;
    const isNameless = fromEnd < nameless;
    const isImported = fromEnd < nameless + imported;
    const city = pick(random, allCities);
    const name = special[at] ?? unique.name(city);
    const employer = company();
    const bond = isImported
      ? "imported"
      : at === 0 || profile === "enrolled" || profile === "waiting"
        ? "client"
        : drawBond(random);
    // Archived people are spread evenly among the others.
    const isArchived = !isImported && at >= special.length && (at * archived) % (drawn - special.length) < archived;
    const since = -between(random, bond === "client" ? 90 : 20, 1_000) - (isArchived ? 260 : 0);
    return {
      id: idOf(people.length),
      fullName: isImported ? undefined : name.fullName,
      inferredName: isNameless || (!isImported && !chance(random, 0.04)) ? undefined : inferred(name, employer, at),
      first: name.first,
      gender: name.gender,
      city,
      company: employer,
      role: pick(random, bond === "partner" ? lives.trades : lives.roles),
      email: isNameless || !chance(random, 0.13) ? unique.email(name, employer, isNameless) : undefined,
      phone: !isNameless && chance(random, 0.75) ? unique.phone(city) : undefined,
      bond,
      topics: [drawTopic(random), drawTopic(random)].slice(0, bond === "client" ? 2 : 1),
      since,
      archived: isArchived ? -between(random, 5, 240) : undefined,
      known: undefined,
    };
  }
}

function drawTopic(random: Random): Topic {
  return pick(random, chance(random, 0.7) ? projects : coachingTopics);
}

function drawBond(random: Random): Bond {
  return pick(random, ["client", "client", "client", "lead", "lead", "lead", "partner", "partner", "friend"]);
}

/** Generates values that no two people of an account share. */
interface Unique {
  name(city: City): Name;
  email(name: Name, employer: string, isNameless: boolean): string;
  phone(city: City): string;
}

function createUnique(random: Random, known: readonly KnownPerson[]): Unique {
  const emails = new Set(known.map(({ email }) => email.toLowerCase()));
  const phones = new Set(known.map(({ phone }) => phone));
  const names = new Set([...known, ...namesakes].map(({ fullName }) => fullName));
  return {
    name(city) {
      for (;;) {
        const name = drawName(random, namePools[pick(random, city.pools)]);
        if (names.has(name.fullName)) continue;
        names.add(name.fullName);
        return name;
      }
    },
    email(name, employer, isNameless) {
      for (let attempt = 0; ; attempt++) {
        const email = isNameless
          ? `${pick(random, ["billing", "hello", "info", "office"])}@${domain(employer)}`
          : drawEmail(random, name, employer, attempt);
        if (emails.has(email.toLowerCase())) continue;
        emails.add(email.toLowerCase());
        return email;
      }
    },
    phone(city) {
      for (;;) {
        const spelling: string = pick(random, pick(random, city.phones));
        const phone = spelling.replace(/#/g, () => String(between(random, 0, 9)));
        if (phones.has(phone)) continue;
        phones.add(phone);
        return chance(random, 0.02)
          ? inDigits(phone, pick(random, Object.keys(otherDigits) as (keyof typeof otherDigits)[]))
          : phone;
      }
    },
  };
}

function knownPerson(id: string, known: KnownPerson, since: number): Person {
  const { fullName, first, gender, company, role, email, phone } = known;
  const city = allCities.find(({ name }) => name === known.city);
  if (city === undefined) throw new Error(`no city is called ${known.city}`);
  const topics = known.topics.map(topicOf);
  return {
    id,
    fullName,
    inferredName: undefined,
    first,
    gender,
    city,
    company,
    role,
    email,
    phone,
    bond: "client",
    topics,
    since,
    archived: undefined,
    known,
  };
}

function drawName(random: Random, pool: NamePool): Name {
  const gender = chance(random, 0.5) ? "f" : "m";
  const first = pick(random, gender === "f" ? pool.female : pool.male);
  const last = pick(random, pool.family);
  return { fullName: pool.familyFirst ? `${last} ${first}` : `${first} ${last}`, first, last, gender };
}

function inferred({ first, last }: Name, employer: string, at: number): string {
  const forms = [
    `${first} ${last.charAt(0)}.`,
    `${first.charAt(0)}. ${last}`,
    `${last}, ${first}`,
    `${first} from ${employer}`,
    `${first} (Zoom)`,
    `Dr. ${last}`,
    `${first} ${last}`,
    `${first.toUpperCase()} ${last.toUpperCase()}`,
    `${fold(first)}.${fold(last)}`.replaceAll(" ", ""),
  ];
  return forms[at % forms.length] as string;
}

/**
 * Returns an email address without accents, in a domain reserved for examples. From the second attempt on, it contains
 * a number.
 */
function drawEmail(random: Random, { first, last }: Name, employer: string, attempt: number): string {
  const [given, family] = [plain(first), plain(last)];
  const number = attempt === 0 ? "" : String(between(random, 2, 99));
  if (chance(random, 0.3))
    return `${given}${pick(random, [".", "_", ""])}${family}${number || between(random, 60, 99)}@example.${pick(random, ["com", "org", "net"])}`;
  const local = pick(random, [
    `${given}.${family}`,
    `${given}.${family}`,
    `${given.charAt(0)}.${family}`,
    `${given.charAt(0)}${family}`,
    given,
    `${given}-${family}`,
    `${given}_${family}`,
  ]);
  const email = `${local}${number}${chance(random, 0.04) ? "+office" : ""}@${domain(employer)}`;
  return chance(random, 0.05)
    ? email.replace(/(^|[.@])([a-z])/g, (_, before: string, letter: string) => before + letter.toUpperCase())
    : email;
}

function domain(employer: string): string {
  return `${plain(employer)}.example.${["com", "org", "net"][employer.length % 3]}`;
}

function plain(text: string): string {
  return fold(text).replace(/[^a-z0-9]+/g, "");
}
