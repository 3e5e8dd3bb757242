// The demo's contacts: every oddity that those of a real account have (contract §10).
import { describe, expect, test } from "vitest";
import { anchors } from "../../src/embedded/demo/anchors.ts";
import { counts, dayMs, demo, ms, named, now, profiles, recordsOf, the, todayOf } from "./demo-made.ts";

describe("the demo's contacts", () => {
  test("include each anchor once, active, with an email, notes and sessions", () => {
    for (const name of Object.values(anchors)) {
      const { id, email, archivedAt } = the(name);
      expect(email, name).toBeDefined();
      expect(archivedAt, name).toBeUndefined();
      expect(
        demo.contactNotes.some(({ contactId }) => contactId === id),
        name,
      ).toBe(true);
      expect(
        demo.sessions.some(({ contactId }) => contactId === id),
        name,
      ).toBe(true);
    }
  });

  test("include Ann Lee with the values of the documentation, changed last of all", () => {
    expect(the("Ann Lee")).toMatchObject({
      email: "ann.lee@example.com",
      phone: "+1 415 555 0100",
      notes: expect.stringContaining("Lantern Books") as string,
      memory: expect.stringContaining("second shop") as string,
    });
    expect(
      demo.contacts.filter(({ fullName, updatedAt }) => fullName !== "Ann Lee" && ms(updatedAt) > todayOf(now) - dayMs),
    ).toEqual([]);
    const sessions = demo.sessions.filter(({ contactId }) => contactId === the("Ann Lee").id);
    expect(sessions.filter(({ sessionDate }) => ms(sessionDate) < todayOf(now)).length).toBeGreaterThan(5);
    expect(sessions.filter(({ sessionDate }) => ms(sessionDate) > todayOf(now))).toHaveLength(2);
  });

  test("include Anne Lee in the profile second; neither profile has the other's", () => {
    const second = recordsOf("second", now);
    expect(named("Anne Lee", second)).toMatchObject([{ email: "anne.lee@example.org", phone: "+44 20 7946 0100" }]);
    expect(named("Ann Lee", second)).toEqual([]);
    expect(named("Anne Lee")).toEqual([]);
  });

  test("have no word that begins with Ann in the profile enrolled, whose first search finds nothing", () => {
    const { contacts } = recordsOf("enrolled", now);
    expect(contacts.length).toBeGreaterThan(0);
    expect(contacts.filter(({ fullName, email }) => /\bann/i.test(`${fullName} ${email}`))).toEqual([]);
  });

  test("have names in many scripts", () => {
    const scripts = [
      "Greek",
      "Cyrillic",
      "Arabic",
      "Hebrew",
      "Devanagari",
      "Han",
      "Hiragana",
      "Katakana",
      "Hangul",
      "Thai",
    ];
    for (const script of scripts)
      expect(
        demo.contacts.some(({ fullName }) => new RegExp(`\\p{Script=${script}}`, "u").test(fullName ?? "")),
        script,
      ).toBe(true);
    for (const letter of "éłøåëễßğřőšñçð")
      expect(
        demo.contacts.some(({ fullName }) => fullName?.normalize().includes(letter)),
        letter,
      ).toBe(true);
  });

  test("include two active ones with the same name", () => {
    const doubles = [
      ...counts(
        demo.contacts.filter(({ fullName }) => fullName !== undefined),
        ({ fullName }) => fullName,
      ),
    ].filter(([, count]) => count > 1);
    expect(doubles).toEqual([["David Miller", 2]]);
    expect(named("David Miller").map(({ archivedAt }) => archivedAt)).toEqual([undefined, undefined]);
  });

  test("include archived ones, of which one has the email of an active one", () => {
    const archived = demo.contacts.filter(({ archivedAt }) => archivedAt !== undefined);
    expect(archived.length).toBeGreaterThanOrEqual(22);
    expect(archived.length).toBeLessThanOrEqual(28);
    expect(named("Jose Alvarez")).toMatchObject([{ email: the("José Álvarez").email, archivedAt: {} }]);
    const withRecords = archived.filter(
      ({ id }) =>
        demo.sessions.some(({ contactId }) => contactId === id) &&
        demo.contactNotes.some(({ contactId }) => contactId === id),
    );
    expect(withRecords.length).toBeGreaterThan(0);
  });

  test("include imported ones with only an inferred name, and some without any name", () => {
    expect(
      demo.contacts.filter(({ fullName, inferredName }) => fullName === undefined && inferredName !== undefined),
    ).toHaveLength(30);
    expect(
      demo.contacts.filter(
        ({ fullName, inferredName, email }) =>
          fullName === undefined && inferredName === undefined && email !== undefined,
      ),
    ).toHaveLength(3);
    expect(
      demo.contacts.some(({ fullName, inferredName }) => fullName !== undefined && inferredName !== undefined),
    ).toBe(true);
  });

  test("include some without an email, a phone, notes or memory", () => {
    const lacking = (["email", "phone", "notes", "memory"] as const).map(
      (field) => demo.contacts.filter((contact) => contact[field] === undefined).length,
    );
    for (const count of lacking) {
      expect(count).toBeGreaterThan(30);
      expect(count).toBeLessThan(300);
    }
  });

  test.each(profiles)(
    "have emails on example domains in the profile %s, and no two active ones the same in lower case",
    (profile) => {
      const { contacts } = recordsOf(profile, now);
      const active = contacts.flatMap(({ email, archivedAt }) =>
        email === undefined || archivedAt !== undefined ? [] : [email.toLowerCase()],
      );
      expect(new Set(active).size).toBe(active.length);
      for (const { email } of contacts)
        if (email !== undefined) expect(email.toLowerCase()).toMatch(/@([a-z0-9]+\.)?example\.(com|net|org)$/);
    },
  );

  test("include some emails in capitals and one beyond ASCII", () => {
    expect(demo.contacts.some(({ email }) => email !== email?.toLowerCase())).toBe(true);
    expect(the("Zoë Martin").email).toBe("zoë.martin@example.org");
  });

  test.each(profiles)("have only phones that are reserved for fiction in the profile %s", (profile) => {
    for (const { phone } of recordsOf(profile, now).contacts)
      if (phone !== undefined) expect(digitsOf(phone), phone).toMatch(fictional);
  });

  test("have phones in many spellings", () => {
    const spellings = new Set(
      demo.contacts.flatMap(({ phone }) => (phone === undefined ? [] : [phone.replace(/\d+/g, "0")])),
    );
    expect(spellings.size).toBeGreaterThan(20);
    const scripts = [
      /^\+/,
      /^00/,
      /^\(/,
      /^tel:/,
      /ext\./,
      /\(0\)/,
      /^\d+$/,
      /[٠-٩]/,
      /[０-９]/,
      /\d\.\d/,
      /\d-\d/,
      /\//,
    ];
    for (const pattern of scripts)
      expect(
        demo.contacts.some(({ phone }) => pattern.test(phone ?? "")),
        String(pattern),
      ).toBe(true);
  });
});

const fictional = new RegExp(
  [
    "^1?(415|212|312|206|512|617)55501\\d\\d$",
    "^(44|0)((207946|161496|113496|131496|117496)0|7700900)\\d{3}$",
    "^(49|0)(3023125|6990009|4066969|2214710|8999998)\\d{3}$",
    "^(33|0)(19900|26191|35301|46571|53649|63998)\\d{4}$",
    "^(46|0)7017406(0[5-9]|[1-9]\\d)$",
    "^(353|0)2091\\d{5}$",
    "^(61|0)(25550\\d{4}|491570(156|157|158|159|110))$",
  ].join("|"),
);

/** The ASCII digits of a phone, without an extension, a zero in parentheses and what dials abroad. */
function digitsOf(phone: string): string {
  const plain = phone.replace(/\p{Nd}/gu, (digit) => String(valueOf(digit)));
  return plain
    .replace(/ext.*$/, "")
    .replace("(0)", "")
    .replace(/[^0-9]/g, "")
    .replace(/^00/, "");
}

function valueOf(digit: string): number {
  const point = digit.codePointAt(0) as number;
  const zero = [0x30, 0x0660, 0x0966, 0x0e50, 0xff10].find((first) => point >= first && point < first + 10);
  return point - (zero as number);
}
