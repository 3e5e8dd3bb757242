// Forms of address, titles and degrees, with which people write a name that a record has without them.
import { fold } from "./fold.ts";

/** Before a name or after it, without dots. Those that are also names or initials, such as Don and M., are not here. */
const TITLES: ReadonlySet<string> = new Set(
  [
    "mr mrs ms mx miss dr prof professor doctor sir madam rev hon jr sr phd md mba esq",
    "herr frau dipl ing mag mme mlle monsieur madame mademoiselle maître dott sig signor signora avv",
    "señor señora señorita sra srta lic senhor senhora dra dhr mevr mw meneer mevrouw pani mgr",
    "bayan sayın г-н г-жа господин госпожа пані κ κος κα κύριος κυρία",
    "السيد السيدة الدكتور الدكتورة الأستاذ الأستاذة المهندس آقای خانم دکتر جناب מר גב ד״ר אדון גברת",
    "श्री श्रीमती डॉ कुमारी জনাব ডা ดร นาย นาง นางสาว คุณ 씨 님 선생님 さん 様 さま 氏 先生 女士 小姐",
  ]
    .join(" ")
    .split(" ")
    .map((title) => bare(title)),
);
/** Those that follow a name without a blank, and the ending of a possessive. */
const ENDING =
  /(?<=\p{L})['’]s$|(?<=[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Hangul}])(?:さん|さま|様|氏|くん|ちゃん|先生|女士|小姐|님|씨)$/u;
const TOKEN = /[^\s,;()]+/g;

/** Returns a query without the titles in it; undefined if it has none, or nothing else. */
export function withoutTitles(query: string): string | undefined {
  const tokens = query.match(TOKEN) ?? [];
  const names = tokens.filter((token) => !TITLES.has(bare(token))).map((token) => token.replace(ENDING, ""));
  const name = names.join(" ");
  return name === "" || name === tokens.join(" ") ? undefined : name;
}

function bare(token: string): string {
  return fold(token).replace(/[.'"-]/g, "");
}
