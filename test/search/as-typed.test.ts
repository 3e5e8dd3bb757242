// Names, numbers and words as people type them, through the service (contract §3.1, §3.2).
import { beforeAll, expect, test } from "vitest";
import type { Client } from "../support/client.ts";
import { newClient, useService } from "../support/client.ts";

const service = useService();
let client: Client;

const found = async (path: string, query: string): Promise<Record<string, never>[]> =>
  (await client.get(`/v1/${path}?query=${encodeURIComponent(query)}`)).body.data;
const contacts = async (query: string): Promise<unknown[]> =>
  (await found("contacts", query)).map(({ full_name: name }) => name);

const names = [
  ...["Siobhán O'Mara", "Jean-Luc Perrin", "A.B.C. Dunmore", "Jürgen Größer", "Bjørn Håland", "Zofia Wiśniewska"],
  ...["सीता", "सुता", "ひらの さくら", "森 海斗", "이서연", "كريم ياسين", "Rowan", "Rowanda Fell"],
  ...[
    "Cian O´Hara",
    "علی\u200cرضا پارسا",
    "馬可‧白林",
    "マリー＝ルイズ",
    "Søren Nørgård",
    "Ebba Norgaard",
    "สมชัยวัฒน์ ทองดี",
    "アレクシオス",
    "LG한소라",
    "Marie Luise Florentina Angelika Schultzedelitzsch",
    "Ilse van der Sande",
    "Rory Mc Brannock",
    "Ewan MacFerris",
    "J. K. Orrin",
    "عبد السلام نوري",
    "عبدالسلام قاسم",
    "محمدرضا پارسا",
    "هالة النجّار",
    "Room 971",
    "Prescott & Gale",
    "Larsen&Holt",
    "Marl and Sons",
    "Đurđa Đukanac",
    "さかた りょう",
    "さがた れい",
    "कुन्दन राणा",
    "渡邊 光",
    "Nadia Bergqvist",
    "John Q. Fenwick",
    "최유리",
    "Vertrag №17",
    "Elnur Əliyev",
    "佐々木 りん",
    "เเพรว สุข",
    "מע״ש ברק",
    "R. K. Salvar",
    "KX Ostrin",
    "Lot 5 Q",
    "Kern+Vogt",
    "Loft 71 Nord",
    "Depot19 Nord",
    "Hangar 8 8",
    "נעם בן־ארזי",
  ],
];

beforeAll(async () => {
  client = await newClient(service());
  await client.put.contacts(
    ...names.map((full_name) => ({ full_name })),
    { full_name: "Paris", phone: "+33 6 39 98 11 22" },
    { full_name: "Leeds", phone: "+44 (0)113 496 0123" },
    { full_name: "Boston", phone: "(617) 555-0133" },
    { full_name: "Bern", phone: "0041 31 555 01 44" },
    { full_name: "Seoul", phone: "+82 10 2000 0144" },
    { full_name: "Minsk", phone: "8 029 491-19-44" },
    { full_name: "Rosario", phone: "+54 9 341 515 0144" },
    { full_name: "Santos", phone: "+55 13 95550-0144" },
    { full_name: "Ottawa", phone: "16135550166" },
    { full_name: "Reno", phone: "1-800-TICKETS" },
    { full_name: "Denver", phone: "1 (303) 555-0121 x204" },
    { full_name: "Dallas", phone: "214-555-0128x33" },
    { full_name: "Lima", phone: "+51 1 555 0133 anexo 7" },
    { full_name: "Oxford", phone: "011 44 1865 555 017" },
    { full_name: "Pune", phone: "098220 55501" },
    { full_name: "Surat", phone: "98220 55502" },
    { full_name: "Puebla", phone: "+52 1 222 555 0166" },
    { full_name: "Merida", phone: "+52 999 555 0177" },
    { full_name: "Recife", phone: "+55 81 98555-0177" },
    { full_name: "Cordoba", phone: "+54 351 555 0188" },
    { full_name: "Fargo", phone: "1-888-GO-FOXES" },
    { full_name: "Turin and Genoa", phone: "+39 011 555 0144 / +39 010 555 0155" },
    { full_name: "Essen", phone: "+49 201 55501234" },
    { full_name: "Hagen", phone: "2331555012" },
    { full_name: "Ghent", email: "info@ghent-lace.example" },
  );
  await client.put.contactNotes({
    contact_id: await client.put.contact({}),
    content: "The kick-off in the U.K. is in C.",
    source: "import",
  });
  await client.put.session({ title: "Kick-off for node.js" });
  await client.put.session({ title: "Kickoff, again" });
});

test.each([
  ["सीता", ["सीता"], "vowel signs are letters"],
  ["सुता", ["सुता"], "vowel signs are letters"],
])("%s finds %j: %s [SRC-11]", async (query, expected) => expect(await contacts(query)).toEqual(expected));

test.each([
  ["ヒラノ", ["ひらの さくら"]],
  ["ﾋﾗﾉ", ["ひらの さくら"]],
  ["کریم", ["كريم ياسين"]],
])("%s finds %j, in other letters of its script [SRC-12]", async (query, expected) =>
  expect(await contacts(query)).toEqual(expected),
);

test.each([
  ["omara", ["Siobhán O'Mara"]],
  ["o’mara", ["Siobhán O'Mara"]],
  ["mara", ["Siobhán O'Mara"]],
  ["jeanluc", ["Jean-Luc Perrin"]],
  ["abc dunmore", ["A.B.C. Dunmore"]],
  ["ohara", ["Cian O´Hara"]],
  ["علیرضا", ["علی\u200cرضا پارسا"]],
  ["رضا پارسا", ["علی\u200cرضا پارسا"]],
  ["מעש", ["מע״ש ברק"]],
  ['מע"ש', ["מע״ש ברק"]],
  ["מע''ש", ["מע״ש ברק"]],
])("%s finds %j, joined or divided [SRC-13]", async (query, expected) =>
  expect(await contacts(query)).toEqual(expected),
);

test.each([
  ["prescott and gale", ["Prescott & Gale"]],
  ["prescott und gale", ["Prescott & Gale"]],
  ["larsen & holt", ["Larsen&Holt"]],
  ["larsenholt", ["Larsen&Holt"]],
  ["marl & sons", ["Marl and Sons"]],
  ["prescott and", ["Prescott & Gale"]],
  ["kern und vogt", ["Kern+Vogt"]],
  ["marl und sons", []],
])("%s finds %j, with an ampersand or a word for it [SRC-13]", async (query, expected) =>
  expect(await contacts(query)).toEqual(expected),
);

test.each([
  ["さがた", ["さがた れい"]],
  ["サカタ", ["さかた りょう"]],
  ["कुंदन", ["कुन्दन राणा"]],
  ["渡辺光", ["渡邊 光"]],
  ["djurdja djukanac", ["Đurđa Đukanac"]],
  ["durda", ["Đurđa Đukanac"]],
  ["aliyev elnur", ["Elnur Əliyev"]],
  ["eliyev", ["Elnur Əliyev"]],
  ["vertrag 17", ["Vertrag №17"]],
  ["№ 17", ["Vertrag №17"]],
  ["佐佐木", ["佐々木 りん"]],
  ["แพรว", ["เเพรว สุข"]],
  ["בנארזי", ["נעם בן־ארזי"]],
])("%s finds %j, in another spelling of its language [SRC-12]", async (query, expected) =>
  expect(await contacts(query)).toEqual(expected),
);

test("sessions and notes have joined and divided words too [SRC-13]", async () => {
  for (const query of ["kickoff", "kick-off"])
    expect((await found("sessions", query)).map(({ title }) => title).sort()).toEqual([
      "Kick-off for node.js",
      "Kickoff, again",
    ]);
  expect(await found("sessions", "nodejs")).toHaveLength(1);
  for (const query of ["kickoff", "uk", "u.k.", "kickoff-in-u.k.-is"])
    expect(await found("notes", query)).toHaveLength(1);
});

test("a word in a session or a note is found without its Arabic article [SRC-13]", async () => {
  const own = await newClient(service());
  await own.put.session({ title: "اجتماع المكتب في الرياض" });
  const content = "فتح المكتبة صباحا";
  await own.put.contactNotes({ contact_id: await own.put.contact({}), content, source: "import" });
  const all = async (path: string, query: string): Promise<unknown> =>
    (await own.get(`/v1/${path}?query=${encodeURIComponent(query)}`)).body.data;
  for (const query of ["مكتب", "رياض اجتماع مكتب", "المكتب رياض"]) expect(await all("sessions", query)).toHaveLength(1);
  for (const query of ["مكتبة", "مكتبه فتح"]) expect(await all("notes", query)).toHaveLength(1);
  for (const query of ["كتبة", "الفتح"]) expect(await all("notes", query)).toEqual([]);
});

test("a number in a note is found however its thousands are divided [SRC-13]", async () => {
  const own = await newClient(service());
  const contents = [
    "Asks for 1,500 at most.",
    "Asks for €1.500 at most.",
    "Asks for 1\u00a0500 at most.",
    "Asks for 1500.",
  ];
  const contact_id = await own.put.contact({});
  await own.put.contactNotes(...contents.map((content) => ({ contact_id, content, source: "import" })));
  for (const query of ["1500", "$1,500", "1.500"])
    expect((await own.get(`/v1/notes?query=${encodeURIComponent(query)}`)).body.data).toHaveLength(4);
});

test("a session is found by the name of its contact, whichever way either spells the umlaut [SLS-21]", async () => {
  const own = await newClient(service());
  const contact_id = await own.put.contact({ full_name: "Goetz Lübke" });
  await own.put.session({ title: "First talk", contact_id });
  for (const query of ["götz", "goetz", "luebke", "götz luebke"])
    expect((await own.get(`/v1/sessions?query=${encodeURIComponent(query)}`)).body.data).toHaveLength(1);
});

test("a session is found by the name of its contact, with or without a blank that Arabic names lack elsewhere [SLS-21]", async () => {
  const own = await newClient(service());
  for (const full_name of ["عبدالله نوري", "عبد الله قاسم"])
    await own.put.session({ title: "First talk", contact_id: await own.put.contact({ full_name }) });
  for (const query of ["عبدالله", "عبد الله"])
    expect((await own.get(`/v1/sessions?query=${encodeURIComponent(query)}`)).body.data).toHaveLength(2);
});

test("a word of one letter in a query for notes is a whole word [SRC-14]", async () => {
  expect(await found("notes", "kick c")).toHaveLength(1);
  expect(await found("notes", "kick o")).toEqual([]);
});

test.each([
  ["06 39 98 11 22", ["Paris"]],
  ["0033 6 39 98", ["Paris"]],
  ["+441134960123", ["Leeds"]],
  ["0113 496 0123", ["Leeds"]],
  ["+1 617 555 0133", ["Boston"]],
  ["6175550133", ["Boston"]],
  ["031 555", ["Bern"]],
  ["010-2000-0144", ["Seoul"]],
  ["010 2000", ["Seoul"]],
  ["+375 29 491 19 44", ["Minsk"]],
  ["0341 15-515-0144", ["Rosario"]],
  ["013 95550-0144", ["Santos"]],
  ["063", []],
  ["1 617 555 0133", ["Boston"]],
  ["(613) 555-0166", ["Ottawa"]],
  ["+16135550166", ["Ottawa"]],
  ["1800tickets", ["Reno"]],
  ["1 800 842 5387", ["Reno"]],
  ["+18008425387", ["Reno"]],
  ["(303) 555-0121 ext. 204", ["Denver"]],
  ["+13035550121", ["Denver"]],
  ["214 555 0128 ext 33", ["Dallas"]],
  ["+1 214 555 0128;ext=33", ["Dallas"]],
  ["2145550128x33", ["Dallas"]],
  ["01 5550133 ext 7", ["Lima"]],
  ["+44 1865 555017", ["Oxford"]],
  ["01865 555 017", ["Oxford"]],
  ["011 33 6 39 98 11 22", ["Paris"]],
  ["Tel.: +33 6 39 98 11 22", ["Paris"]],
  ["tel:+33-6-39-98-11-22", ["Paris"]],
  ["M: 0639981122", ["Paris"]],
  ["Paris: 0639", ["Paris"]],
  ["011 33 6", []],
  ["9822055501", ["Pune"]],
  ["098220 55502", ["Surat"]],
  ["who called from +33 6 39 98 11 22", ["Paris"]],
  ["06 39 98 11 22 (Mobile)", ["Paris"]],
  ["+52 222 555 0166", ["Puebla"]],
  ["222 555 0166", ["Puebla"]],
  ["5219995550177", ["Merida"]],
  ["+55 81 8555 0177", ["Recife"]],
  ["+54 9 351 555 0188", ["Cordoba"]],
  ["1 888 463 6937", ["Fargo"]],
  ["+39 011 5550144", ["Turin and Genoa"]],
  ["010 5550155", ["Turin and Genoa"]],
  ["20155501234", []],
  ["0011 49 201 55501234", ["Essen"]],
  ["02331 555012", ["Hagen"]],
  ["+49 2331 555012", ["Hagen"]],
  ["room 0639", []],
])("the phone %s finds %j [CSR-13]", async (query, expected) => expect(await contacts(query)).toEqual(expected));

test.each([
  ["森海斗", ["森 海斗"]],
  ["海斗", ["森 海斗"]],
  ["서연", ["이서연"]],
  ["한소라", ["LG한소라"]],
  ["juergen groesser", ["Jürgen Größer"]],
  ["jurgen", ["Jürgen Größer"]],
  ["bjoern haaland", ["Bjørn Håland"]],
  ["norgaard", ["Ebba Norgaard", "Søren Nørgård"]],
  ["noergard", ["Søren Nørgård"]],
  ["馬可白林", ["馬可‧白林"]],
  ["マリールイズ", ["マリー＝ルイズ"]],
  ["نجار", ["هالة النجّار"]],
  ["النجار هاله", ["هالة النجّار"]],
  ["عبدالسلام", ["عبد السلام نوري", "عبدالسلام قاسم"]],
  ["عبد السلام", ["عبد السلام نوري", "عبدالسلام قاسم"]],
  ["نوري عبدالسلام", ["عبد السلام نوري"]],
  ["محمد رضا پارسا", ["محمدرضا پارسا"]],
])("the name %s finds %j [CSR-15]", async (query, expected) =>
  expect((await contacts(query)).sort()).toEqual(expected),
);

test.each([
  ["wisniewksa", ["Zofia Wiśniewska"], "two letters swapped"],
  ["wisnewska", ["Zofia Wiśniewska"], "one missing"],
  ["wisniiewska", ["Zofia Wiśniewska"], "one doubled"],
  ["wisniewsxa", ["Zofia Wiśniewska"], "one wrong"],
  ["vysniewska", [], "the first letters wrong"],
  ["wisnewsxa", [], "two mistakes"],
  ["rowann", ["Rowan"], "one doubled"],
  [
    "marie-luise florentina-angelika schultze-delitsch",
    ["Marie Luise Florentina Angelika Schultzedelitzsch"],
    "one missing, in a word that only a late reading has",
  ],
  ["สมชยวัฒน์", ["สมชัยวัฒน์ ทองดี"], "one missing"],
  ["アレキシオス", ["アレクシオス"], "one wrong"],
  ["rowand", ["Rowanda Fell"], "a beginning, so nothing is corrected"],
])("the name %s finds %j: %s [CSR-16]", async (query, expected) => expect(await contacts(query)).toEqual(expected));

test.each([
  ["vandersande", ["Ilse van der Sande"], "one missing twice"],
  ["ilse vandersan", ["Ilse van der Sande"], "one missing in the beginning of a word"],
  ["mcbrannock", ["Rory Mc Brannock"], "one missing"],
  ["mac ferris", ["Ewan MacFerris"], "one too many"],
  ["ewan mac fer", ["Ewan MacFerris"], "one too many before the beginning of a word"],
  ["jk orrin", ["J. K. Orrin"], "one missing in a whole name"],
  ["rk salvar", ["R. K. Salvar"], "one missing in a whole name"],
  ["k x ostrin", ["KX Ostrin"], "one too many in a whole name"],
  ["lot5q", ["Lot 5 Q"], "some missing in a whole name with a number"],
  ["jk orr", [], "one missing in a word of less than five letters"],
  ["sande ilse", ["Ilse van der Sande"], "none too many or missing"],
  ["vandersonde", [], "a letter wrong as well"],
  ["ilsevan mcbrannock", [], "in names of two contacts"],
  ["loft71", ["Loft 71 Nord"], "one missing before a number"],
  ["nord depot 19", ["Depot19 Nord"], "one too many before a number"],
  ["97 1", [], "in a number"],
  ["loft 7 1", [], "one too many in a number"],
  ["hangar88 8", [], "one missing in a number"],
])("the blanks of the name %s find %j: %s [CSR-16]", async (query, expected) => {
  expect(await contacts(query)).toEqual(expected);
});

test.each([
  ["Frau Dr. Bergqvist", ["Nadia Bergqvist"], "its titles left out"],
  ["Mrs bergqvist, MBA", ["Nadia Bergqvist"], "its titles left out"],
  ["渡邊様", ["渡邊 光"], "its title left out"],
  ["유리님", ["최유리"], "its title left out"],
  ["Prof. Dr.-Ing. Bergqvist", ["Nadia Bergqvist"], "several titles in one word left out"],
  ["Nadia Bergqvist III", ["Nadia Bergqvist"], "a number left out"],
  ["Bergqvist GmbH", ["Nadia Bergqvist"], "a legal form left out"],
  ["株式会社渡邊", ["渡邊 光"], "its legal form left out"],
  ["Nadiaさん", ["Nadia Bergqvist"], "its title in another script left out"],
  ["Bergqvist’s", ["Nadia Bergqvist"], "a possessive"],
  ["dr", [], "a title alone"],
  ["J.R. Bergqvist", [], "initials that look like a title"],
  ["j.r. bergqvist", [], "such initials in lower case"],
  ["Frau Nadia K. Bergqvist", ["Nadia Bergqvist"], "a middle initial left out"],
  ["nadia k. bergqvist", ["Nadia Bergqvist"], "one in lower case"],
  ["Frau K. Bergqvist", [], "a first initial"],
  ["N. K. Bergqvist", [], "one of several initials"],
  ["nadia bergqvist maria", [], "a word that the record lacks"],
  ["mailto:info@ghent-lace.example", ["Ghent"], "a link"],
  ["mailto:info@ghent-lace.example?subject=Lace%20from%20Ghent", ["Ghent"], "a link with a subject"],
  ["name:Bergqvist", ["Nadia Bergqvist"], "its field named"],
  ["<info@ghent-lace.example>,", ["Ghent"], "an address from a list"],
  ["https://www.ghent-lace.example/en/about?from=mail", ["Ghent"], "a page of its domain"],
])("%s finds %j: %s [CSR-16]", async (query, expected) => expect(await contacts(query)).toEqual(expected));

test("the tiers: the whole email, phone or name, then whole words of the name, then of any field, then beginnings, each newest first [CSR-11, CSR-14]", async () => {
  const own = await newClient(service());
  const put = (full_name: string, others: object = {}): Promise<unknown> => own.put.contacts({ full_name, ...others });
  await put("Ash", { email: "ash@wood.example", phone: "+49 89 5550199" });
  await put("Ash Grove");
  await put("By email", { email: "team@ash.example" });
  for (let at = 0; at < 26; at += 1)
    await put(`Ashley ${at}`, { email: `ash@wood.example.${at}.example`, phone: `+49 89 5550199${at}` });
  const first = async (query: string): Promise<unknown[]> => {
    const { body } = await own.get(`/v1/contacts?query=${encodeURIComponent(query)}`);
    expect(body.data.length).toBeLessThanOrEqual(25);
    return body.data.map(({ full_name: name }: { full_name: string }) => name);
  };
  expect((await first("ash")).slice(0, 2)).toEqual(["Ash", "Ash Grove"]);
  expect((await first("ash"))[2]).toBe("Ashley 25");
  for (const query of ["ASH@wood.example", "+49 (89) 5550199", "089 5550199"])
    expect((await first(query))[0]).toBe("Ash");
});

test("of several contacts whose whole name is the query, the newest comes first, wherever each divides it [CSR-11]", async () => {
  const own = await newClient(service());
  for (const full_name of ["王 小明", "王小 明"]) await own.put.contact({ full_name });
  for (const query of ["王 小明", "王小明", "王小 明"]) {
    const { body } = await own.get(`/v1/contacts?query=${encodeURIComponent(query)}`);
    expect(body.data.map(({ full_name: name }: { full_name: string }) => name)).toEqual(["王小 明", "王 小明"]);
  }
});

test("a name is the whole query however either joins its words, but not if no word of it begins like one of the query [CSR-11]", async () => {
  const own = await newClient(service());
  await own.put.contact({ full_name: "Anne-Marie O'Neil" });
  await own.put.contact({ full_name: "O'Neil, Anne-Marie, again" });
  await own.put.contact({ full_name: "Annemarieoneill" });
  const first = async (query: string): Promise<unknown> =>
    (await own.get(`/v1/contacts?query=${encodeURIComponent(query)}`)).body.data[0]?.full_name;
  for (const query of ["anne marie oneil", "annemarie o'neil", "ANNE-MARIE ONEIL"])
    expect(await first(query)).toBe("Anne-Marie O'Neil");
  expect(await first("annemarieoneil")).toBe("Annemarieoneill");
});

test("internal callers get the part of a note around the match that its first 1,000 characters lack, and REST does not [MCP-17, NOT-15]", async () => {
  const own = await newClient(service());
  const content = `${"Long before. ".repeat(90)}Then the Kick-off in the Gröbenstraße.`;
  await own.put.contactNotes({ contact_id: await own.put.contact({}), content, source: "import" });
  for (const query of ["kickoff", "grobenstrasse then"]) {
    const path = `/v1/notes?with_context=true&query=${encodeURIComponent(query)}`;
    const [row] = (await own.get(path)).body.data;
    const rpc = "records.v1.NoteService/SearchNotes";
    expect(row.content).toBe(content.slice(0, 1_000));
    expect(row).not.toHaveProperty("snippet");
    for (const more of [{ withContext: true }, { withSnippet: true }]) {
      const { body } = await service().internalCall(rpc, { query, ...more }, { "records-account-id": own.id });
      expect(body.notes[0].content).toBe(row.content);
      expect(body.notes[0].snippet).toContain("Then the Kick-off in the Gröbenstraße.");
    }
  }
});
