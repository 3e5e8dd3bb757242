// Reads a line of a transcript: its time, who speaks, and what they say, in the forms that meeting programs, speech
// recognition and people use.
import { withoutEntities } from "./markup.ts";

/** A line of a transcript. */
export interface TurnLine {
  /** The time at its beginning or end, in seconds; undefined if it has none. */
  readonly time: number | undefined;
  /** Who speaks in this line, or from the next one on if the text is empty; undefined if it names nobody. */
  readonly speaker: string | undefined;
  /** What follows the time and the name. */
  readonly text: string;
}

/** What surrounds a line. Some names can only be told by it. */
export interface Around {
  readonly previous: string | undefined;
  /** The next line that is not blank. */
  readonly next: string | undefined;
  /** Whether the line is of a caption, whose time is known. */
  readonly isCaption: boolean;
  /** Whether other lines have a time and then a name alone. */
  readonly hasHeadings: boolean;
  /** Whether the transcript has this text more than once: as a line, at the beginning of lines, or anywhere. */
  isRepeated(text: string, where: "line" | "start" | "anywhere"): boolean;
}

/** The start of a line that is searched for a name, in UTF-16 units. */
const maxBeginning = 160;
const [maxWords, maxFullWords, maxTimedWords] = [5, 7, 3];
const CLOCK = "\\d{1,3}(?::\\d{2}){1,2}(?:[.,]\\d{1,6})?|\\d{1,2}(?::\\d{1,2}){2}(?:[.,]\\d{1,6})?";
const TIME = `(?<clock>${CLOCK})(?:[ \\u202f]?(?<half>[AaPp])\\.?[Mm]\\.?)?(?: ?(?:-->|->|[–—-]) ?(?:${CLOCK}))?`;
const DATE = "(?:(?<date>\\d{1,4}[./-]\\d{1,2}[./-]\\d{1,4}),? )?";
/** "[00:03:12]", "3:12", "00:01.200 --> 00:03.400", "[27/01/2026, 10:23:45]", "10:23 AM". */
const timeAtStart = new RegExp(`^[[(（]?${DATE}${TIME}(?:[\\])）]|(?=[\\s–—|-]|$))`, "u");
const timeAtEnd = new RegExp(`(?:[\\s|·•@–—-]|(?=[[(（]))[[(（]?${DATE}${TIME}[\\])）]?$`, "u");
const anyTime = new RegExp(`[[(]?(?:${CLOCK})[\\])]?`, "gu");
/** The tag of a speaker in WebVTT. */
const voice = /^<v(?:\.[\w-]{1,20}){0,5}[ \t]([^<>\n]{1,60})>/u;
const colon = /[:：]/u;
const name = /^[\p{L}“"][\p{L}\p{M}\p{N}\s.'’“”"()（）[\]/&,·_|+-]{0,79}$/u;
/** What can stand for a name where its place marks it, such as a phone number. */
const anyLabel = /^[^\s:：.!?][^:：!?\n]{0,79}$/u;
/** "SPEAKER_00", "spk_1", "Speaker 2" of speech recognition, and an address of a participant. */
const code = /^(?:spk|speaker|sprecher|guest|participant)[ _-]?\d{1,3}$|^[^\s@:<>]{1,64}@[^\s@:<>]{1,64}$/iu;
const lower = /^(?!\p{Script=Georgian}|d['’]|al-|l['’])\p{Ll}/u;
const upper = /^[\p{Lu}\p{Lt}\p{Lo}\p{N}\p{Script=Georgian}(]/u;
const inner = /[([（][^()[\]（）]{0,80}[)\]）]/gu;
const brackets: Readonly<Record<string, string>> = { "[": "]", "(": ")", "（": "）", "【": "】" };
/** Words of names that begin with a lower-case letter. */
const particles = new Set(
  "van von de da di del della der den des du la le el al bin ibn ter ten zu zum zur af av dos das do e y".split(" "),
);
/** The mark of a heading or of an item of a list, which is no turn unless it has a time. */
const item = /^(?:#{1,6}|[-*•–+])[ \t]/u;
/** The number of a line in the records of a court. */
const lineNumber = /^\d{1,2}[ \t]{2,20}(?=\S)/u;
/** Scripts that write names without blanks, and the most letters of such a name. */
const [unspaced, maxUnspaced] = [/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u, 10];
/** What begins a line of a document and is nobody's name. */
const documentWords = new Set(
  "note notes summary agenda date time duration title topic subject location place attendees participants present actions decisions recording transcript meeting warning example remember question first second datum ort thema teilnehmer notizen fecha asunto participantes notas".split(
    " ",
  ),
);
/** A year beside another number. A name such as "Class of 2026" has only the year. */
const dated = /\d\D+(?:19|20)\d{2}\b|\b(?:19|20)\d{2}\D+\d/u;
/** What is heard besides speech. */
const sounds =
  /\b(?:music|musik|musique|música|applause|laughter|laughs|inaudible|crosstalk|silence|pause|noise|foreign|indistinct|unintelligible|audio|speech|background|sighs|chuckles?|laughing|clapping|cheering|ringing|barking|playing|rumbling|chanting|speaking|whispering|crying|coughing|knocking|ticking|singing|breathing|buzzing|beeping|typing|screaming|shouting)\b|音乐|音楽|掌声|拍手|笑声/iu;

/** Reads a line. Text that only looks like a name, such as "[Music]" or "Date: …", names nobody. */
export function readTurnLine(line: string, around: Around): TurnLine {
  const whole = line
    .trim()
    .replace(/^\p{Cf}+/u, "")
    .replace(lineNumber, "");
  const start = withoutMarks(whole);
  const began = around.isCaption ? null : timeAtStart.exec(start.slice(0, maxBeginning));
  const time = began === null ? undefined : secondsOf(began.groups);
  const afterTime = began === null ? start : start.slice(began[0].length);
  const rest = withoutMarks(afterTime.replace(/^[\s–—|]+/u, ""));
  const unnamed = { time, speaker: undefined, text: rest };
  if (rest === "" || (time === undefined && item.test(whole) && !timeAtEnd.test(rest))) return unnamed;
  const tagged = voice.exec(rest);
  if (tagged !== null) return { time, speaker: plainName(tagged[1] ?? ""), text: rest.slice(tagged[0].length) };
  return (
    beforeColon(rest, time, around) ??
    inBrackets(rest, time, around) ??
    (rest.length > maxBeginning ? undefined : heading(rest, time, /^\s*[–—|-]/u.test(afterTime), around)) ??
    unnamed
  );
}

/** Returns what lines have in common: whether a text is a line, the beginning or a label of lines at least twice. */
export function repetitionIn(lines: readonly string[]): Around["isRepeated"] {
  const whole = repeated(lines);
  const starts = repeated(lines.flatMap((line) => line.slice(0, maxBeginning).match(/^[^:：]{1,80}:/u) ?? []));
  const labels = repeated(lines.flatMap(labelsOf));
  return (text, where) => (where === "line" ? whole : where === "start" ? starts : labels).has(text);
}

function repeated(texts: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  return new Set(texts.filter((text) => seen.has(text) || !seen.add(text)));
}

/** What can name the speaker of a line: its bracket, and what is before, behind and between times and a colon. */
function labelsOf(line: string): readonly string[] {
  const parts = line
    .slice(0, maxBeginning)
    .replace(anyTime, "\n")
    .split(/[\n:：]/u);
  const bracket = /^[[(（【][^\])）】]{1,80}[\])）】]/u.exec(line)?.[0];
  return [...new Set([...parts.map(bare), ...(bracket === undefined ? [] : [bracket])])];
}

/** Whether a line has a time and nothing else. */
function isTimeAlone(line: string | undefined): boolean {
  const start = line?.trim() ?? "";
  return start !== "" && timeAtStart.exec(start.slice(0, maxBeginning))?.[0].length === start.length;
}

/**
 * "Ann: …", "[Ann]: …", "**Ann** (0:03): …", "Ann: [0:03] …", "Ann: 0:03" above what she says, and "From Ann to
 * Everyone: …" after a time.
 */
function beforeColon(rest: string, time: number | undefined, { next, isRepeated }: Around): TurnLine | undefined {
  const at = placeOfColon(rest.slice(0, maxBeginning));
  if (at === undefined) return undefined;
  const { label: before, time: later } = withoutTime(bare(rest.slice(0, at)));
  const sender = time === undefined ? undefined : /^From +(\S.*)$/u.exec(before)?.[1]?.split(/ to /iu, 1)[0];
  const speaker = bare(sender ?? before);
  const text = rest
    .slice(at + 1)
    .replace(/^(?:\*\*|__|[*_])/u, "")
    .trim();
  const isTimed = (time ?? later) !== undefined;
  // Where its place marks it, or it comes again, a label need not look like a name.
  const isMarked = (): boolean =>
    isTimed
      ? wordsOf(speaker).length <= maxTimedWords || isRepeated(speaker, "anywhere")
      : isRepeated(`${speaker}:`, "start");
  const isNamed = isName(speaker) || code.test(speaker);
  // "Source: https://…"
  const isLink = !isTimed && /^<?https?:/u.test(text);
  if (!(isNamed && !isLink) && !((isNamed || anyLabel.test(speaker)) && isMarked())) return undefined;
  const told = isTimed ? null : timeAtStart.exec(text.slice(0, maxBeginning));
  const said = text.slice(told?.[0].length ?? 0).trim();
  // "9:30" alone can be what somebody says.
  const isTold = said === "" ? /^[[(]|:.*:/u.test(text) && isText(next) : /^[[(]/u.test(text);
  return told !== null && isTold
    ? { time: secondsOf(told.groups), speaker, text: said }
    : { time: time ?? later, speaker, text };
}

/** "[Ann Lee] …", "(Ann Lee)" above what she says, "[Ann Lee] 10:23:45", "[Ann Lee 0:03] …". */
function inBrackets(
  rest: string,
  time: number | undefined,
  { next, isCaption, isRepeated }: Around,
): TurnLine | undefined {
  const end = brackets[rest.charAt(0)];
  const at = end === undefined ? -1 : rest.slice(0, maxBeginning).indexOf(end);
  // Markdown writes links in brackets.
  if (at === -1 || rest.startsWith("(http", at + 1)) return undefined;
  const { label: speaker, time: within } = withoutTime(bare(rest.slice(1, at)));
  const behind = rest.slice(at + 1).trim();
  const later = isCaption ? null : timeAtEnd.exec(` ${behind}`);
  const isTimed = later !== null && later[0].trim() === behind;
  if (sounds.test(speaker) || (isTimed || behind === "" ? !isText(next) : false)) return undefined;
  // What is heard is in brackets, too: a name is there more than once.
  const isSure =
    code.test(speaker) ||
    (isTimed || within !== undefined
      ? isName(speaker) || isRepeated(speaker, "anywhere")
      : isName(speaker) && isRepeated(rest.slice(0, at + 1), "anywhere"));
  if (!isSure) return undefined;
  return {
    time: time ?? within ?? (isTimed ? secondsOf(later.groups) : undefined),
    speaker,
    text: isTimed ? "" : behind,
  };
}

/**
 * "Ann Lee  0:03", "0:03 - Ann" or "0:03 Ann Lee" above what she says; "Ann Lee" above or below a time, and above what
 * she says.
 */
function heading(
  rest: string,
  time: number | undefined,
  isDivided: boolean,
  { previous, next, isCaption, hasHeadings, isRepeated }: Around,
): TurnLine | undefined {
  const { label: before, time: later, isApart } = withoutTime(rest);
  const speaker = bare(before);
  if (/[.!?…]$/u.test(speaker.replace(/\b(?:\p{Lu}|Jr|Sr|Dr)\.$/u, ""))) return undefined;
  // "January 5, 2026, 9:00AM"
  if (dated.test(speaker)) return undefined;
  const isMarked = (): boolean =>
    (later !== undefined || isDivided) &&
    ((hasHeadings && wordsOf(speaker).length <= maxTimedWords) || isRepeated(speaker, "anywhere"));
  const isNamed = isName(speaker) || code.test(speaker) || (anyLabel.test(speaker) && isMarked());
  const named = { time: time ?? later, speaker, text: "" };
  if (later !== undefined && time === undefined)
    return !isCaption && isText(next) && (isNamed || (isApart && name.test(speaker))) ? named : undefined;
  if (!isNamed) return undefined;
  if (time !== undefined)
    return isText(next) && !sounds.test(speaker) && (isDivided || hasHeadings || isRepeated(speaker, "anywhere"))
      ? named
      : undefined;
  // A page has a full name above a time. Where each text is between two times, it is what somebody says.
  const isAbove = !isTimeAlone(previous) && isFullName(speaker);
  if (isTimeAlone(next)) return isAbove || isRepeated(rest, "line") ? named : undefined;
  // Between a time and a text, a name alone can be the beginning of a sentence.
  return isTimeAlone(previous) && isText(next) && isFullName(speaker) && isRepeated(rest, "line") ? named : undefined;
}

/** Whether a line is something that somebody says, and no turn with a time of its own. */
function isText(line: string | undefined): boolean {
  const start = line?.trim() ?? "";
  const began = timeAtStart.exec(start.slice(0, maxBeginning))?.[0];
  return start !== "" && (began === undefined || (/^\d/u.test(began) && /^\s\P{Lu}/u.test(start.slice(began.length))));
}

/** Divides a label from the time at its end. `isApart` if more than a blank divides them. */
function withoutTime(text: string): { label: string; time: number | undefined; isApart: boolean } {
  const found = timeAtEnd.exec(text);
  if (found === null) return { label: text, time: undefined, isApart: false };
  const before = text.slice(0, found.index + 1);
  const isBracket = "[(（".includes(before.slice(-1));
  return {
    label: bare(isBracket ? before.slice(0, -1) : before),
    time: secondsOf(found.groups),
    isApart: /[ \t]{2}$|\t$/u.test(before),
  };
}

/** Returns the place of the first colon that ends a word; undefined if there is none. */
function placeOfColon(line: string): number | undefined {
  for (let at = line.search(colon); at !== -1 && at < line.length; at++) {
    if (!colon.test(line.charAt(at))) continue;
    const next = line.charAt(at + 1);
    if (next.trim() === "" || line.charAt(at) === "：" || next === "*" || next === "_") return at;
  }
  return undefined;
}

/** Returns a line without the marks of lists, quotes, headings and emphasis at its beginning. */
function withoutMarks(line: string): string {
  let at = 0;
  while (at < line.length && "#*_>•–@-".includes(line.charAt(at))) at++;
  return line.slice(at).trimStart();
}

/** Returns a label without the brackets, emphasis and dashes around it. */
function bare(text: string): string {
  let [from, to] = [0, text.length];
  const isMark = (at: number): boolean => "*_|·•,~–— \t-".includes(text.charAt(at)) || /\p{Cf}/u.test(text.charAt(at));
  while (from < to && isMark(from)) from++;
  while (from < to && isMark(to - 1)) to--;
  const kept = text.slice(from, to).trim();
  const isWrapped =
    brackets[kept.charAt(0)] === kept.at(-1) && kept.length > 2 && kept.search(/[)\]）】]/u) === kept.length - 1;
  return isWrapped ? bare(kept.slice(1, -1)) : kept;
}

function plainName(tag: string): string {
  return withoutEntities(tag).trim();
}

/** The words of a label outside of brackets. */
function wordsOf(text: string): string[] {
  return text.replace(inner, " ").trim().split(/\s+/u);
}

/** Whether a label is likely to be a name: a few words, of which neither the first nor the last is in lower case. */
function isName(text: string): boolean {
  if (!name.test(text) || documentWords.has(text.toLowerCase()) || /\p{L}{5}[.] /u.test(text)) return false;
  if (text.length > maxUnspaced && unspaced.test(text)) return false;
  const words = wordsOf(text);
  const [first = "", last = ""] = [words[0], words.at(-1)];
  const isParticle = particles.has(first) && words.length > 1;
  const isShort = words.length <= maxWords || (words.length <= maxFullWords && words.every(beginsName));
  return isShort && (isParticle || !lower.test(first)) && !lower.test(last) && text.split(",").length < 3;
}

/** Whether a label is likely to be a name even where little marks it. */
export function isFullName(text: string): boolean {
  const words = text.split(/\s+/u);
  return isName(text) && words.length > 1 && words.every(beginsName);
}

function beginsName(word: string): boolean {
  return upper.test(word) || particles.has(word);
}

/** Returns the seconds of a time; those of the day if it has a date or a half of the day. */
function secondsOf(groups: Readonly<Record<string, string | undefined>> | undefined): number | undefined {
  const { date, clock, half } = groups ?? {};
  if (clock === undefined) return undefined;
  const parts = clock.replace(",", ".").split(":").map(Number);
  const isOfDay = (date !== undefined || half !== undefined) && parts.length === 2;
  const seconds = (isOfDay ? [...parts, 0] : parts).reduce((sum, one) => sum * 60 + one, 0);
  if (half === undefined) return seconds;
  return (seconds % 43_200) + (half.toLowerCase() === "p" ? 43_200 : 0);
}
