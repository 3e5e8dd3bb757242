// The encoding of a file is recognized by its content, and a file in no known encoding is rejected.
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { held, read } from "./entries.ts";

/** A text in an encoding that Node can only read. */
function encoded(text: string, encoding: string): Uint8Array {
  return execFileSync("iconv", ["-f", "UTF-8", "-t", encoding], { input: text });
}

const german = "Name,Notes\nJörg Groß,sagt „grüß Gott“\n";
const texts: [encoding: string, program: string, text: string][] = [
  ["windows-1252", "CP1252", german],
  ["windows-1252", "CP1252", "Name,Notes\nD’Arcy Noël,“Hello” – 5 €\n"],
  ["windows-1252", "CP1252", "Name,Notes\nINÉS MUÑOZ,¿qué tal?\nJosé,Señor\n"],
  ["windows-1252", "CP1252", "Name,Notes\nJörg ÖzdemirÖ,Ülkü\n"],
  ["windows-1250", "CP1250", "Imię,Notatki\nŁukasz Wiśniewski,źródło\n"],
  ["windows-1250", "CP1250", "Name,Notes\nJiří Dvořák,přítel z Brna\n"],
  ["windows-1252", "CP1252", "Name,Notes\nJoão Simões,irmão de Inês Conceição\n"],
  ["windows-1254", "CP1254", "Name,Notes\nAyşe Yıldız,Çağrı Işık’ın ağabeyi\nOğuz Kılıç,Kadıköy’de diş hekimi\n"],
  ["windows-1251", "CP1251", "Name,Notes\nМария Иванова,позвонить завтра\n"],
  ["windows-1251", "CP1251", "Name,Notes\nВіталій Кравченко,їде в Київ\n"],
  ["koi8-r", "KOI8-R", "Name,Notes\nМария Иванова,позвонить завтра\n"],
  ["windows-1253", "CP1253", "Name,Notes\nΒαγγέλης Παπαδόπουλος,Άννα\n"],
  ["windows-1255", "CP1255", "Name,Notes\nנועה לוי,פגישה ביום שני\n"],
  ["macintosh", "MACINTOSH", "Name,Notes\nJörg Müller,für später\n"],
  ["macintosh", "MACINTOSH", "Name,Notes\nRenée,x\n"],
  ["windows-1252", "CP1252", "Name,Notes\nJoão Gonçalves,x\n"],
  ["windows-1252", "CP1252", "Name,Notes\nInês,x\n"],
  ["shift_jis", "SHIFT_JIS", "氏名,メモ\n佐伯 美緒,展示会で会った\n"],
  ["gbk", "GBK", "姓名,备注\n王小明,在展览会上认识的\n"],
  ["big5", "BIG5", "Name,Notes\n陳怡君,在展覽會上認識的\n"],
  ["euc-kr", "EUC-KR", "Name,Notes\n김민준,전시회에서 만남\n"],
  ["euc-jp", "EUC-JP", "氏名,メモ\n佐伯 美緒,展示会で会った\n"],
  ["utf-16le", "UTF-16LE", german],
  ["utf-16be", "UTF-16BE", german],
  ["utf-16le", "UTF-16LE", "\ufeff姓,名,メモ\n佐伯,美緒,展示会\n"],
  ["utf-8", "UTF-8", german],
];

test.each(texts)("recognizes %s (%s) by content: %s", async (encoding, program, text) => {
  const [row = ""] = text.split("\n").slice(1);
  const { encoding: found, entries } = await read("csv", encoded(text, program));
  expect(found).toBe(encoding);
  const { fullName, notes } = held(entries[0] ?? { line: 0, input: "", content: { skipped: "" } }) as Record<
    string,
    string
  >;
  expect([fullName, notes].map((one) => one?.replaceAll(" ", ""))).toEqual(
    row.includes("佐伯,") ? ["佐伯美緒", "展示会"] : row.replaceAll(" ", "").split(/,(.*)/).slice(0, 2),
  );
});

test("a byte order mark takes precedence over --encoding", async () => {
  for (const [program, text] of [
    ["UTF-8", `\ufeff${german}`],
    ["UTF-16BE", `\ufeff${german}`],
  ] as const)
    expect((await read("csv", encoded(text, program), "windows-1252")).entries.map(held)).toMatchObject([
      { fullName: "Jörg Groß" },
    ]);
});

test.each([
  ["Thai", "CP874", "สมชาย ใจดี"],
  ["Kučera, or Kuèera in windows-1252", "CP1250", "Kučera"],
  ["Ynsë, or Ynsė in windows-1257", "CP1252", "Ynsë"],
])("a file whose content does not show its encoding is rejected, not guessed: %s", async (_title, program, name) => {
  await expect(read("csv", encoded(`Name\nAnn\n${name}\n`, program))).rejects.toThrow(
    "file is not UTF-8 in line 3. Set its encoding, such as --encoding windows-1251. Nothing was written.",
  );
});

test("UTF-8 with an invalid or incomplete character is not another encoding", async () => {
  const mixed = Buffer.concat([Buffer.from("Name\nJörg\nÄnne\n"), Buffer.from("M\xfcller\n", "latin1")]);
  await expect(read("csv", mixed)).rejects.toThrow("file is not UTF-8 in line 4.");
  await expect(read("csv", Buffer.from("Name\nAnn\nMü").subarray(0, -1))).rejects.toThrow(
    "file is not UTF-8 in line 3.",
  );
});

test("a property of a vCard in another encoding than the rest is recognized or left out; a file of them is in that encoding", async () => {
  const cards = (name: string): string => `BEGIN:VCARD\nFN:${name}\nTEL:1\nEND:VCARD\n`;
  const latin = Buffer.from(cards("Müller"), "latin1");
  const czech = encoded(cards("Kučera"), "CP1250");
  const mixed = Buffer.concat([Buffer.from(cards("Jörg") + cards("Änne") + cards("Zoë")), latin, czech]);
  expect((await read("vcard", mixed)).entries.map((entry) => [held(entry), entry.leftOut])).toEqual([
    [{ fullName: "Jörg", phone: "1" }, 0],
    [{ fullName: "Änne", phone: "1" }, 0],
    [{ fullName: "Zoë", phone: "1" }, 0],
    [{ fullName: "Müller", phone: "1" }, 0],
    [{ phone: "1" }, 1],
  ]);
  expect((await read("vcard", latin)).entries.map(held)).toEqual([{ fullName: "Müller", phone: "1" }]);
  await expect(read("vcard", latin, "utf-8")).rejects.toThrow("file is not UTF-8 in line 2.");
  const own = Buffer.from("BEGIN:VCARD\nFN;CHARSET=ISO-8859-1:M\xfcller\nNOTE:\u00c3\u00bc\nEND:VCARD\n", "latin1");
  expect((await read("vcard", own)).entries.map(held)).toEqual([{ fullName: "Müller", notes: "ü" }]);
});
