// Recognizes the code page of a text: the one in which its words have the most frequent letters of their languages.
import type { Decode } from "./encoding.ts";
import { decoderOf } from "./encoding.ts";

/** Letters above ASCII of the languages of a script, the most frequent in names first. */
const latin = [
  ...[
    "üäöß",
    "éèçïôêëâîàûùœ",
    "óáíñéúüº",
    "ãçáíéóêõâúàôª",
    "àèòùìé",
    "öäåéü",
    "øåæéäö",
    "ëéïèüö",
    "áðíóþúéæýö",
    "äüõöšž",
  ],
  ...["áíéčřšěžýůúňťďó", "áíéčšžýúľťôňďäĺŕó", "łóńśżęąćź", "áéóöíüőúű", "ćšžčđ", "ăşţâî", "üşçığöâîû"],
  ...["ėšžūčąęųį", "ņīšāēūģķļžč"],
];
const cyrillic = [
  ...["аоеинврлсктмдйяьгпыубчшзюхжцфщэёъ", "аиоевнртлксдмпгбзяъучйшцхжфющь"],
  ...["аноеркилвсімдтяпбчгуйьхзшюцєфжщїґ", "аоиенрсвјкмлтдпбгућшзчцњћђжљфхџ"],
];
const greek = ["αοςρλνκτιησυμπεάίδγύόήβέωχθφζώξϊΐψ"];
const hebrew = ["יאורלהמבןדנשעחגסתםפכטזקץףצך"];
const arabic = ["امنردهيسبتحعلكفقجشخزصوطغثضذظءئأآإةىپچگژیکؤ"];

/** Encodings of one byte a character, their languages, and in bits how much rarer they are than the first. */
const codePages: readonly (readonly [encoding: string, languages: readonly string[], rarity: number])[] = [
  ["windows-1252", latin, 0],
  ["windows-1250", latin, 5],
  ["windows-1254", latin, 5],
  ["windows-1257", latin, 7],
  ["macintosh", latin, 6],
  ["iso-8859-2", latin, 7],
  ["windows-1251", cyrillic, 2],
  ["koi8-r", cyrillic, 4],
  ["koi8-u", cyrillic, 4],
  ["x-mac-cyrillic", cyrillic, 8],
  ["iso-8859-5", cyrillic, 4],
  ["ibm866", cyrillic, 4],
  ["windows-1253", greek, 2],
  ["iso-8859-7", greek, 4],
  ["windows-1255", hebrew, 2],
  ["windows-1256", arabic, 2],
];

/** Frequent characters of names, places and tables. */
const kana = String.fromCharCode(...Array.from({ length: 0xbf }, (_, at) => 0x3041 + at));
const japanese =
  "氏名前会社電話番号住所備考携帯自宅勤務先部課長様株式役職郵便県府都区市町村年月日時人事員大小中上下藤田子" +
  "山木本太佐川美加鈴一橋林樹香裕直陽高井平渡辺也横浜千代伊郡吉知実花松明織石西幹島真郎崎里奈介涼春岡舞康弘" +
  "佳結衣谷口翼和桃七夏清水青治充晃健篤司智原英池三森綾亮翔浦稔京修斎助後聡淳多阿学福近零拓浩摩東印斉武洋生" +
  "坂港遠津旛八南金新宿野鴨富蔵栄沢梅取安江葉奥立匝瑳埜御君昭神我孫央九戸白幸芝磯北夷隅王袖渋檜保土久留米宮" +
  "台庄";
const simplifiedChinese =
  "姓名公司电话手机邮箱地址备注联系人部门职位传真的一是在不了有和这中大为上个国我以要他时来用们生到作于出会" +
  "可主年同工行学所分经开新长老师客户网县市李王张秀桂英梅陈刘兰华玉丽建杨红珍婷凤吴黄丹淑芳林孙荣雪周龙赵阳" +
  "徐强马燕宁明娟杰平成金瑞朱洁柳安彭军慧何辉郭霞小想艳东云利静海波萍斌莉香亮春琳郑欣瑜浩涛高彬博花韩璐凯志" +
  "岩玲帆齐洋娜州峰颖蒋晶莹文刚冬磊超坤梁健宇佳石苏俊兵伟楠畅唐袁雷曹鑫沈魏吕倩潘曾胡北哈尔南兴勇谢宋程飞任" +
  "敏许";
const traditionalChinese =
  "姓名公司電話手機郵件信箱地址備註聯絡人部門職稱傳真的一是在不了有和這中大為上個國我以要他時來用們生到作於" +
  "出會可主年同工行學所分經開新長老師客戶網陳美志林秀淑麗黃宏玉俊李張市明縣文王吳玲珠雄建惠雅劉家豪華蔡宇怡" +
  "蘭許廷楊婷英恩冠珍承柏雲娟琴邱洪榮鳳銘北曾鄭竹宗高金素郭翰賴賢翔山江貞徐香周成子正碧梅進永廖謝義龍卿蓮傑" +
  "施偉忠佳霖莊台芬睿蘇葉霞東德慧呂何南宜秋君輝良桃園靜簡胡月詹遠瑋苗栗斗財興威羅凱翁馬政博宥彥游昌雯潘魏哲" +
  "古營";
const korean =
  "이름전화번호휴대폰메일주소회사모성부서직장표과원님구시동로의는을를에가다하고지기한인김영정현수민박진은우" +
  "자준윤군숙경훈최상양미안천예강순재희남철산연옥식권오도아홍손혜청류춘승중석광명평황종조후선문빈유환용배길" +
  "건심곽포허병웅백보혁송노채여당임릉신엄덕태록증흥계룡속초북나차람음공왕단통팔달충제논창해금리";

/** Encodings of two bytes a character, with the frequent characters and the usual ones. */
const han = /[\u3000-\u303f\u4e00-\u9fa5\uff01-\uff5e]/;
const pairedPages: readonly (readonly [encoding: string, frequent: ReadonlySet<string>, usual: RegExp])[] = [
  ["shift_jis", new Set(kana + japanese), han],
  ["euc-jp", new Set(kana + japanese), han],
  ["gbk", new Set(simplifiedChinese), han],
  ["big5", new Set(traditionalChinese), han],
  ["euc-kr", new Set(korean), /[\u3000-\u303f\uac00-\ud7a3\uff01-\uff5e]/],
];

/** The bits of information that characters have, about: the less frequent they are, the more. */
const bits = { absent: 7, wrong: 9, typographic: 4, sign: 6, frequent: 7, usual: 11, unusual: 18 };
/** How many bits a letter, and a character of two bytes, may have on average. In a wrong encoding, it has more. */
const [maxLetter, maxPair] = [5, 10];
/** How many bits fewer a text must have in its encoding than in any other plausible one with another result. */
const margin = 4;
/** How many characters are rated: a property of a vCard can have millions. */
const maxRated = 50_000;

const decoders = new Map<string, Decode>();

/** Returns the code page of bytes that are not UTF-8. Returns undefined if none is plausible, or more than one. */
export function recognizeCodePage(bytes: Uint8Array): string | undefined {
  const found = new Map<string, { readonly encoding: string; readonly sum: number; readonly most: number }>();
  const add = (encoding: string, rarity: number, mean: number, rate: (text: string) => number): void => {
    const decode = decoders.get(encoding) ?? decoderOf(encoding);
    decoders.set(encoding, decode);
    const text = decode(bytes);
    if (text === undefined || found.has(text)) return;
    const begin = text.slice(0, maxRated);
    const most = rarity + mean * (begin.match(/[^\0-\x7f]/g)?.length ?? 0);
    found.set(text, { encoding, sum: rarity + rate(begin), most });
  };
  for (const [encoding, languages, rarity] of codePages)
    add(encoding, rarity, maxLetter, (text) => bitsOfWords(text, languages) + bitsOfSigns(text));
  for (const [encoding, frequent, usual] of pairedPages)
    add(encoding, 0, maxPair, (text) => bitsOfPairs(text, frequent, usual));
  const plausible = [...found.values()].filter(({ sum, most }) => sum <= most);
  const [best, next] = plausible.toSorted((one, other) => one.sum - other.sum);
  return next === undefined || next.sum - (best?.sum ?? 0) >= margin ? best?.encoding : undefined;
}

const letter = /\p{L}/u;
const upperCase = /\p{Lu}/u;
const latinLetter = /\p{Script=Latin}/u;

/** Returns the bits of the words above ASCII. Each is of any language, but the fewer there are, the better. */
function bitsOfWords(text: string, languages: readonly string[]): number {
  const words = (text.match(/[\p{L}\p{M}]+/gu) ?? []).filter((one) => /[^\0-\x7f]/.test(one));
  const chances = words.map((one) => languages.map((language) => chanceOf(one, language)));
  let shares = languages.map(() => 1 / languages.length);
  let sum = 0;
  // The languages of a text are found by expectation and maximization.
  for (let round = 0; round < 8; round++) {
    const counts = languages.map(() => 0.01);
    sum = 0;
    for (const one of chances) {
      const parts = one.map((chance, at) => chance * (shares[at] ?? 0));
      const whole = parts.reduce((left, right) => left + right, 0);
      sum -= Math.log2(whole);
      for (const [at, part] of parts.entries()) counts[at] = (counts[at] ?? 0) + part / whole;
    }
    const total = counts.reduce((left, right) => left + right, 0);
    shares = counts.map((count) => count / total);
  }
  return words.reduce((all, one) => all + misplaced(one) * bits.wrong, sum);
}

/** The bits of each letter of a language: the frequency of a letter is inverse to its rank. */
const letterBits = new Map(
  [...latin, ...cyrillic, ...greek, ...hebrew, ...arabic].map((language) => {
    const whole = [...language].reduce((sum, _, rank) => sum + 1 / (2 + rank), 0);
    return [language, new Map([...language].map((one, rank) => [one, Math.log2((2 + rank) * whole)]))] as const;
  }),
);

/** Returns the probability of a word in a language. Letters of ASCII are only in words of Latin script. */
function chanceOf(word: string, language: string): number {
  const known = letterBits.get(language);
  const isLatin = latinLetter.test(language);
  let sum = 0;
  for (const one of word.toLowerCase().replaceAll("i\u0307", "ı"))
    if (one > "\x7f" || !isLatin) sum += known?.get(one) ?? bits.absent;
  // Many of a long word's letters can be absent.
  return 2 ** -Math.min(sum, 1_000);
}

const vowel = /[aeiouyáéíóúýàèìòùâêîôûäëïöüÿãõåæøœăąęěőűůıāēīūėįų]/i;

/** Polish writes `ni` for a soft `n` before a vowel, and Spanish has its `ñ` only there. Portuguese has `ão` and `õe`. */
const foreign = /[ńśź](?=[aeiouóy])|[ăő](?=[oe])|ñ(?![aeiouáéíóú])/gi;

/** Returns how many letters are where no word has them. */
function misplaced(word: string): number {
  let count = word.match(foreign)?.length ?? 0;
  for (let at = 0; at < word.length; at++) {
    const [one = "", previous = "", next = ""] = [word[at], word[at - 1], word[at + 1]];
    // A capital follows only capitals, and two capitals have no small letter between them.
    if (upperCase.test(one)) count += previous === "" || upperCase.test(previous) ? 0 : 1;
    else if (one > "\x7f" && upperCase.test(previous) && upperCase.test(next)) count++;
    // Vowels and consonants alternate.
    if (one <= "\x7f" || !latinLetter.test(one) || previous === "" || next === "") continue;
    if ([previous, next].every((other) => vowel.test(other) === vowel.test(one))) count += 0.25;
  }
  return count;
}

/** Signs that programs write before a word, after a word, or between words. */
const [before, after, between] = [new Set("“„‘¿¡"), new Set("”’…ªº°²³™®"), new Set("«»‹›–—•€£§©·½¼´№\u00a0")];
const typographic = new Set("‘’“”„–—…•€");

function bitsOfSigns(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at++) {
    const [sign = "", previous = "", next = ""] = [text[at], text[at - 1], text[at + 1]];
    if (sign <= "\x7f" || letter.test(sign)) continue;
    const fits = isInPlace(sign, letter.test(previous), letter.test(next));
    sum += !fits ? bits.wrong : typographic.has(sign) ? bits.typographic : bits.sign;
  }
  return sum;
}

function isInPlace(sign: string, follows: boolean, precedes: boolean): boolean {
  if (sign === "’") return follows;
  if (before.has(sign)) return !follows;
  if (after.has(sign)) return !precedes;
  return between.has(sign) && !(follows && precedes);
}

function bitsOfPairs(text: string, frequent: ReadonlySet<string>, usual: RegExp): number {
  let sum = 0;
  for (const one of text)
    if (one > "\x7f") sum += frequent.has(one) ? bits.frequent : usual.test(one) ? bits.usual : bits.unusual;
  return sum;
}
