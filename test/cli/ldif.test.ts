// LDIF of mail programs and directories.
import { expect, test } from "vitest";
import { parseMap } from "../../src/cli/formats/csv-columns.ts";
import { readLdif } from "../../src/cli/formats/ldif.ts";
import { linesOf } from "../../src/cli/formats/lines.ts";
import { everyOf } from "../support/client.ts";
import { chunksOf, said } from "./entries.ts";

test("the people of an LDIF file are contacts, with folded, repeated and encoded values; groups are skipped [IMP-04]", async () => {
  const text = `version: 1
# exported

dn: cn=Una Ray,mail=una@example.com
objectClass: person
objectClass: mozillaAbPersonAlpha
cn: Una Ray
givenName: Una
sn: Ray
mail: una at example
mail: una@example.com
telephoneNumber: 030 1
mobile: 0171 1
description: a long
  note

dn: cn=Friends
objectClass: groupOfNames
cn: Friends
member: cn=Una Ray,mail=una@example.com

dn:: Y249SsO2cmc=
objectClass: inetOrgPerson
cn;lang-de:: SsO2cmcgSG9mZg==
mozillaSecondEmail: joerg@example.com
`;
  const fields: string[] = [];
  const lines = linesOf(chunksOf(text.replaceAll("\n", "\r\n")));
  const entries = await everyOf(readLdif(lines, parseMap([]), (columns) => fields.push(...columns.fields)));
  expect(said(entries)).toEqual([
    [4, { fullName: "Una Ray", email: "una@example.com", phone: "0171 1", notes: "a long note" }],
    [17, "skipped: group"],
    [22, { fullName: "Jörg Hoff", email: "joerg@example.com" }],
  ]);
  expect(fields).toEqual(["full_name", "email", "phone", "notes"]);
});
