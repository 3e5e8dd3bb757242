// vCards as phones, mail programs and web services write them: 2.1, 3.0 and 4.0, with all their liberties.
import { expect, test } from "vitest";
import { readVcards } from "../../src/cli/formats/vcard.ts";
import { everyOf } from "../support/client.ts";
import { chunksOf, held, read, said, vcards } from "./entries.ts";

function card(lines: readonly string[], version = "3.0"): string {
  return ["BEGIN:VCARD", `VERSION:${version}`, ...lines, "END:VCARD", ""].join("\r\n");
}

test.each<[string, string[], string, Record<string, string>]>([
  [
    "a comma in a note is part of it, escaped or not",
    ["FN:Una Ray", "NOTE:tea, milk\\, figs\\n- no nuts\\; no eggs; please"],
    "3.0",
    { fullName: "Una Ray", notes: "tea, milk, figs\n- no nuts; no eggs; please" },
  ],
  [
    "several notes are joined",
    ["FN:Una Ray", "NOTE:one, two", "NOTE:three"],
    "3.0",
    { fullName: "Una Ray", notes: "one, two\n\nthree" },
  ],
  [
    "the versions of a note in other languages are left out",
    ["FN:Una Ray", "NOTE;ALTID=1;LANGUAGE=en:hello", "NOTE;ALTID=1;LANGUAGE=de:hallo"],
    "4.0",
    { fullName: "Una Ray", notes: "hello" },
  ],
  [
    "a parameter without a name is a type, and a picture is not parsed",
    ["FN:Una Ray", "PHOTO;BASE64:AAAA", "TEL;HOME;VOICE:1", "TEL;CELL:2", "EMAIL;INTERNET:una@example.com"],
    "3.0",
    { fullName: "Una Ray", phone: "2", email: "una@example.com" },
  ],
  [
    "a property that is neither imported nor readable is passed over",
    ["FN:Una Ray", 'ADR;LABEL="1 Road:;;1 Road;Ely;;;', "X-FLAGS;;=;:yes", "TEL:1"],
    "3.0",
    { fullName: "Una Ray", phone: "1" },
  ],
  [
    "the parts of a name can all be lists",
    ["N:García,López;Ana,María;;;"],
    "3.0",
    { fullName: "Ana María García López" },
  ],
  ["a comma in a name of 2.1 separates nothing", ["N:Ray, Jr.;Una"], "2.1", { fullName: "Una Ray, Jr." }],
  ["a family name in Japanese comes first", ["N:佐伯;美緒;;;"], "4.0", { fullName: "佐伯 美緒" }],
  ["a nickname names a contact without a name", ["NICKNAME:Uni,Ray", "TEL:1"], "3.0", { fullName: "Uni", phone: "1" }],
  ["so does an organization", ["FN:", "N:;;;;", "ORG:Mill;Shop", "TEL:1"], "3.0", { fullName: "Mill", phone: "1" }],
  ["blanks around a name are not part of it", ["FN:  Una Ray "], "3.0", { fullName: "Una Ray" }],
  [
    "colons and quotes can be escaped",
    ["FN:Una Ray", 'NOTE:at 1\\:30\\, \\"as is\\" in C:\\temp'],
    "3.0",
    { fullName: "Una Ray", notes: 'at 1:30, "as is" in C:\\temp' },
  ],
  [
    "the first valid address is imported, without the name around it",
    ["EMAIL:una", "EMAIL:Una Ray <una@example.com>", "EMAIL:ray@example.com"],
    "3.0",
    { email: "una@example.com" },
  ],
  [
    "an address can be preferred by number, by type and by its place in a list",
    ["EMAIL:c@example.com", "EMAIL;PREF=2:b@example.com", "EMAIL;TYPE=work,pref:mailto:a@example.com"],
    "4.0",
    { email: "a@example.com" },
  ],
  ["several addresses can be in one value", ["EMAIL:a@example.com; b@example.com"], "3.0", { email: "a@example.com" }],
  [
    "a mobile number comes before others, and a pager after all",
    ["TEL;TYPE=PAGER:1", "TEL;TYPE=FAX,PREF:2", "TEL;TYPE=HOME:3", "TEL;TYPE=WORK:4", "TEL;TYPE=CELL:5"],
    "3.0",
    { phone: "5" },
  ],
  [
    "a preferred number comes before a mobile one, and a label can be the type",
    ["item1.TEL:3", "item1.X-ABLabel:Home Fax", "TEL;TYPE=CELL:2", "TEL;TYPE=HOME,PREF:1"],
    "3.0",
    { phone: "1" },
  ],
  [
    "a label of Apple's can be the type",
    ["item1.TEL:1", "item1.X-ABLabel:iPhone", "TEL;WORK:2"],
    "3.0",
    { phone: "1" },
  ],
  ["types in an escaped list are types", ["TEL;TYPE=VOICE\\,CELL:1", "TEL;TYPE=WORK:2"], "3.0", { phone: "1" }],
  ["a tel: URI is decoded", ["TEL;VALUE=uri:tel:+49%2030-1"], "4.0", { phone: "+49 30-1" }],
  ["a tel: URI keeps its extension", ["TEL;VALUE=uri:tel:+1-418;ext=102;x=y"], "4.0", { phone: "+1-418 ext. 102" }],
  [
    "a local number of a tel: URI follows its prefix",
    ["TEL;VALUE=uri:tel:863-1234;phone-context=+1-914"],
    "4.0",
    { phone: "+1-914-863-1234" },
  ],
  ["a domain is no prefix", ["TEL;VALUE=uri:tel:7042;phone-context=example.com"], "4.0", { phone: "7042" }],
  ["an extension needs no tel: URI", ["TEL;WORK:+1-418;ext=102"], "2.1", { phone: "+1-418 ext. 102" }],
  [
    "an identifier of more than 200 characters is left out",
    ["FN:Una", `UID:${"u".repeat(201)}`],
    "3.0",
    { fullName: "Una" },
  ],
  [
    "a line that begins no property continues the text before it",
    ["FN:Una", "NOTE:first", "Tel: call later", "", "http://example.com is hers", "TEL:1"],
    "3.0",
    { fullName: "Una", notes: "first\nTel: call later\n\nhttp://example.com is hers", phone: "1" },
  ],
  ["a name with a line break stays one line", ["FN:Una", "", " Ray"], "3.0", { fullName: "Una Ray" }],
])("%s", async (_title, lines, version, expected) => {
  expect((await vcards(card(lines, version))).map(held)).toEqual([expected]);
});

test("quoted-printable text with soft line breaks is decoded in its own charset", async () => {
  const lines = [
    "N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=C3=96z;Jale;;;",
    "FN;QUOTED-PRINTABLE:Jale =C3=96z",
    "NOTE;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:=FCber=0D=0A=",
    "TEL: eins=3B zwei =",
    "drei",
    "X-OTHER;ENCODING=QUOTED-PRINTABLE:=",
    "TEL;CELL:1",
  ];
  expect((await vcards(card(lines, "2.1"))).map(held)).toEqual([
    { fullName: "Jale Öz", notes: "über\nTEL: eins; zwei drei", phone: "1" },
  ]);
  // Some programs fold soft line breaks too, and some phones end the last line with one.
  const folded = [
    "FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=D0=98=D0=B2=D0=",
    " =B0=D0=BD=20=D0=9B=",
    " =D0=B5=D1=81",
    "NOTE;ENCODING=QUOTED-PRINTABLE:one=",
    " two=",
    "TEL;CELL:2",
  ];
  expect((await vcards(card(folded, "2.1"))).map(held)).toEqual([
    { fullName: "Иван Лес", notes: "one two", phone: "2" },
  ]);
  // Old phones do not name their code page, or give it a name of their own.
  for (const charset of ["", "CHARSET=ANSI;"])
    expect((await vcards(card([`FN;${charset}ENCODING=QUOTED-PRINTABLE:J=FCrgen`], "2.1"))).map(held)).toEqual([
      { fullName: "Jürgen" },
    ]);
  expect((await vcards(card(["FN;ENCODING=QUOTED-PRINTABLE:J=FCrgen"], "2.1"))).map(held)).toEqual([
    { fullName: "Jürgen" },
  ]);
});

test("text in base64 is decoded, and a fold within a character is restored", async () => {
  const base64 = card(["FN:Una", `NOTE;ENCODING=b:${Buffer.from("für Una").toString("base64")}`]);
  const folded = Buffer.concat([
    Buffer.from("BEGIN:VCARD\r\nFN:J\xc3", "latin1"),
    Buffer.from("\r\n \xb6rg\r\nEND:VCARD", "latin1"),
  ]);
  expect((await vcards(base64)).map(held)).toEqual([{ fullName: "Una", notes: "für Una" }]);
  expect((await read("vcard", folded)).entries.map(held)).toEqual([{ fullName: "Jörg" }]);
});

test("2.1 folds a line before a blank, which stays; later versions add the blank", async () => {
  expect((await vcards(card(["FN:Una", " Ray"], "2.1") + card(["FN:Una", " Ray"]))).map(held)).toEqual([
    { fullName: "Una Ray" },
    { fullName: "UnaRay" },
  ]);
});

test("cards can follow each other on a line or after a byte order mark, and lines can end with CR alone or CR CR LF", async () => {
  const joined = `\ufeff${card(["FN:A"]).trimEnd()}${card(["FN:B"]).trimEnd()}\n\ufeff\ufeff${card(["FN:C"])}`;
  expect((await vcards(joined)).map(held)).toEqual([{ fullName: "A" }, { fullName: "B" }, { fullName: "C" }]);
  for (const end of ["\r", "\r\r\n", "\n"])
    expect(said(await vcards((card(["FN:A", "UID:1"]) + card(["FN:B"])).replaceAll("\r\n", end)))).toEqual([
      [1, { fullName: "A", externalId: "1" }],
      [6, { fullName: "B" }],
    ]);
});

test("a card within a card belongs to no contact, and its name does not become that of another", async () => {
  const agent = ["BEGIN:VCARD", "VERSION:2.1", "FN:Helper", "TEL:9", "END:VCARD"];
  const both =
    card(["FN:Una", "AGENT:", ...agent, "TEL:1"], "2.1") +
    card(["FN:Bo", `AGENT:${agent[0]}`, ...agent.slice(1), "TEL:2"]);
  expect((await vcards(both)).map(held)).toEqual([
    { fullName: "Una", phone: "1" },
    { fullName: "Bo", phone: "2" },
  ]);
  const folded = card(["FN:Cy", "AGENT:BEGIN:VCARD", ...agent.slice(1).map((line) => ` ${line}`), "TEL:3"]);
  expect((await vcards(folded)).map(held)).toEqual([{ fullName: "Cy", phone: "3" }]);
});

test("a value that stands for none is no phone, except in a card of our own", async () => {
  const lines = ["FN:Una", "TEL:n/a", "TEL:-", "TEL:2"];
  const own = card(["FN:Bo", "TEL:n/a", "X-RECORDS-MEMORY:kind"]);
  expect((await vcards(card(lines) + card(lines.slice(0, 3)) + own)).map(held)).toEqual([
    { fullName: "Una", phone: "2" },
    { fullName: "Una" },
    { fullName: "Bo", phone: "n/a", memory: "kind" },
  ]);
});

test("a group of contacts is skipped", async () => {
  const groups = card(["KIND:group", "FN:Club"], "4.0") + card(["FN:Club", "X-ADDRESSBOOKSERVER-KIND:group"]);
  expect((await vcards(groups + card(["KIND:individual", "FN:Una"]))).map(held)).toEqual([
    "skipped: group",
    "skipped: group",
    { fullName: "Una" },
  ]);
});

test("a property that cannot be read or stored is left out and counted, and the card is imported [IMP-03]", async () => {
  const lines = [
    "FN:Una",
    'TEL;TYPE="cell:1',
    "TEL",
    "NOTE:a\0b",
    `TEL:${"1".repeat(51)}`,
    "EMAIL;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:=FF@example.com",
    "X-RECORDS-ID:7",
    "TEL:2",
  ];
  expect(await vcards(card(lines))).toMatchObject([{ leftOut: 5, content: { record: {} } }]);
  expect((await vcards(card(lines))).map(held)).toEqual([{ fullName: "Una", phone: "2" }]);
});

test("a card that is no contact is a problem with its line: twice begun, with only an id, or with only invalid addresses [IMP-03]", async () => {
  const cards = [
    "hello\nthere\n",
    card(["FN:Una"]),
    card(["FN:Una", "VERSION:3.0", "FN:Bo"]),
    card(["UID:1"]),
    card(["FN:Una", "EMAIL:una at example", "EMAIL:none"]),
  ];
  expect(said(await vcards(cards.join("")))).toEqual([
    [1, "is outside a card: a card begins with BEGIN:VCARD"],
    [3, { fullName: "Una" }],
    [7, "has two versions and names: it may be two cards without an end between"],
    [13, "the card has no name, email, phone or note"],
    [17, 'has no valid email address: "una at example"'],
  ]);
});

test("a server may have repeated lines of a card, and a program may have indented them [IMP-03]", async () => {
  const repeated = card(["VERSION:3.0", "PRODID:a", "PRODID:b", "FN:Una Ray", "TEL:1"]);
  const folded = card(["FN:Bo Li", "NOTE:one ", " two"]).replace(/^(?=.)/gm, "\t ");
  const plain = card(["FN:Cy", "NOTE:one", " two"]);
  expect((await vcards(repeated + folded + plain)).map(held)).toEqual([
    { fullName: "Una Ray", phone: "1" },
    { fullName: "Bo Li", notes: "one two" },
    { fullName: "Cy", notes: "onetwo" },
  ]);
});

test("a card of any size is imported, because its picture is not kept; its other lines are limited", async () => {
  const picture = ["PHOTO;ENCODING=b:", ...Array.from({ length: 300_000 }, () => ` ${"A".repeat(74)}`)];
  const inLargeChunks = (text: string) => everyOf(readVcards(chunksOf(text, 65_536)));
  expect((await inLargeChunks(card(["FN:Una", ...picture, "TEL:1"]))).map(held)).toEqual([
    { fullName: "Una", phone: "1" },
  ]);
  const note = Array.from({ length: 300_000 }, () => ` ${"a".repeat(74)}`);
  expect((await inLargeChunks(card(["FN:Una", "NOTE:", ...note]))).map(held)).toEqual([
    "the card is longer than 16 MiB",
  ]);
});

test("the preferred FN is the name, and an email and a phone have no invisible characters", async () => {
  const lines = ["FN;PREF=2:Old", "FN;PREF=1:New", "EMAIL:\u200ba@example.com", "TEL:\u202a+49 1\u202c"];
  expect((await vcards(card(lines, "4.0"))).map(held)).toEqual([
    { fullName: "New", email: "a@example.com", phone: "+49 1" },
  ]);
});
