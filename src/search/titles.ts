// Forms of address, titles, degrees and legal forms, with which people write a name that a record has without them.
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
const INITIALS = /^(?:\p{Lu}\.){2,}$/u;

/** Returns a query without the titles in it; undefined if it has none, or nothing else. */
export function withoutTitles(query: string): string | undefined {
  const tokens = query.match(TOKEN) ?? [];
  const names = tokens
    .filter((token, at) => !isTitle(token) || (at === 0 && INITIALS.test(token)))
    .map((token) => token.replace(ATTACHED, ""));
  const name = names.join(" ");
  return name === "" || name === tokens.join(" ") ? undefined : name;
}

/** Whether a token is a title, or several such as Dr.-Ing. */
function isTitle(token: string): boolean {
  return TITLES.has(bare(token)) || token.split(/[.-]+(?=.)/).every((part) => TITLES.has(bare(part)));
}

function bare(token: string): string {
  return fold(token).replace(/[.'"-]/g, "");
}
