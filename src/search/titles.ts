// Forms of address, titles, legal forms and middle initials, with which people write a name that a record has without.
import { fold } from "./fold.ts";

/** Before a name or after it, without dots. Those that are also names or initials, such as Don and M., are not here. */
const TITLES: ReadonlySet<string> = new Set(
  [
    "mr mrs ms mx miss dr prof professor doctor sir madam rev hon jr sr ii iii iv phd md mba msc bsc llm esq",
    "herr herrn frau dipl med ing mag mme mlle monsieur madame mademoiselle maître dott sig signor signora avv",
    "señor señora señorita sra srta lic senhor senhora dra dhr mevr mw meneer mevrouw pani mgr",
    "bayan sayın г-н г-жа господин госпожа пані κ κος κα κύριος κυρία",
    "السيد السيدة الدكتور الدكتورة الأستاذ الأستاذة المهندس آقای خانم دکتر مهندس جناب מר גב ד״ר פרופ אדון גברת",
    "श्री श्रीमती डॉ कुमारी जी জনাব ডা ดร นาย นาง นางสาว คุณ 씨 님 선생님 さん 様 さま 氏 先生 女士 小姐",
    "inc incorporated corp corporation ltd limited llc llp plc company gmbh ag kg ohg sarl srl spa bv nv oy",
    "ооо оао зао 株式会社 有限会社 合同会社 有限公司 주식회사",
  ]
    .join(" ")
    .split(" ")
    .map((title) => bare(title)),
);
/** Those before or after a name without a blank, and the ending of a possessive. */
const ATTACHED =
  /^(?:株式会社|有限会社|주식회사)(?=\p{L})|(?<=\p{L})(?:['’]s|さん|さま|様|氏|くん|ちゃん|先生|女士|小姐|部長|社長|님|씨|株式会社|有限会社|有限公司)$/u;
const TOKEN = /[^\s,;()]+/g;
/** What is before a name looks like initials: A.G. Weber is no company. */
const INITIALS = /^(?:\p{L}\.){2,}$/u;
const INITIAL = /^\p{L}\.$/u;

/** Returns a query without the titles and a middle initial in it; undefined if it has none, or nothing else. */
export function withoutTitles(query: string): string | undefined {
  const tokens = query.match(TOKEN) ?? [];
  const kept = tokens.filter((token, at) => !isTitle(token) || (at === 0 && INITIALS.test(token)));
  const names = kept.filter((token, at) => !INITIAL.test(token) || !isBetweenNames(kept[at - 1], kept[at + 1]));
  const name = names.map((token) => token.replace(ATTACHED, "")).join(" ");
  return name === "" || name === tokens.join(" ") ? undefined : name;
}

/** Whether the tokens before and after another one are names, of more than an initial. */
function isBetweenNames(before = "", after = ""): boolean {
  return bare(before).length > 1 && bare(after).length > 1;
}

/** Whether a token is a title, or several such as Dr.-Ing. */
function isTitle(token: string): boolean {
  return TITLES.has(bare(token)) || token.split(/[.-]+(?=.)/).every((part) => TITLES.has(bare(part)));
}

function bare(token: string): string {
  return fold(token).replace(/[.'"-]/g, "");
}
