// Reads a line of a transcript: its time, who speaks, and what they say, in the forms that meeting programs, speech
// recognition and people use.

/** A line of a transcript. */
export interface TurnLine {
  /** The time at its beginning or end, in seconds; undefined if it has none. */
  readonly time: number | undefined;
  /** Who speaks in this line, or from the next one on if the text is empty; undefined if it names nobody. */
  readonly speaker: string | undefined;
  /** What follows the time and the name. */
  readonly text: string;
}

/** The lines around a line. Some names can only be told by them. */
export interface Around {
  readonly previous: string | undefined;
  readonly next: string | undefined;
  /** Whether the text has the line more than once. */
  isRepeated(): boolean;
}

/** The start of a line that is searched for a name, in UTF-16 units. */
const maxBeginning = 160;
const maxWords = 5;
const CLOCK = "\\d{1,3}(?::\\d{2}){1,2}(?:[.,]\\d{1,3})?|\\d{1,2}(?::\\d{1,2}){2}(?:[.,]\\d{1,3})?";
const TIME = `(?<clock>${CLOCK})(?:[ \\u202f]?(?<half>[AaPp])\\.?[Mm]\\.?)?`;
const DATE = "\\d{1,4}[./-]\\d{1,2}[./-]\\d{1,4}";
/** "[00:03:12]", "3:12", "00:01.200 --> 00:03.400", "[27/01/2026, 10:23:45]", "10:23 AM". */
const timeAtStart = new RegExp(
  `^[[(]?(?:(?<date>${DATE}),? )?${TIME}(?: ?--> ?(?:${CLOCK}))?(?:[\\])]|(?=[\\s–—|-]|$))`,
  "u",
);
const timeAtEnd = new RegExp(`[\\s|–—-][[(]?${TIME}[\\])]?$`, "u");
/** The tag of a speaker in WebVTT. */
const voice = /^<v(?:\.[\w-]{1,20}){0,5}[ \t]([^<>\n]{1,60})>/u;
const colon = /[:：]/u;
const name = /^\p{L}[\p{L}\p{M}\p{N}\s.'’()/&,-]{0,59}$/u;
/** "SPEAKER_00", "spk_1", "Speaker 2" of speech recognition, and an address of a participant. */
const code = /^(?:spk|speaker|sprecher|guest|participant)[ _-]?\d{1,3}$|^[^\s@:<>]{1,64}@[^\s@:<>]{1,64}$/iu;
const lower = /^\p{Ll}/u;
const upper = /^[\p{Lu}\p{Lt}\p{Lo}\p{N}(]/u;
const brackets: Readonly<Record<string, string>> = { "[": "]", "(": ")", "【": "】" };
/** Words of names that begin with a lower-case letter. */
const particles = new Set(
  "van von de da di del della der den des du la le el al bin ibn ter ten zu zum zur af av dos das do e y".split(" "),
);
/** The mark of a heading or of an item of a list, which is no turn unless it has a time. */
const item = /^(?:#{1,6}|[-*•–+])[ \t]/u;
/** Scripts that write names without blanks, and the most letters of such a name. */
const [unspaced, maxUnspaced] = [/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u, 10];
/** What begins a line of a document and is nobody's name. */
const labels = new Set(
  "note notes summary agenda date time duration title topic subject location place attendees participants present actions decisions recording transcript meeting warning example datum ort thema teilnehmer notizen fecha asunto participantes notas".split(
    " ",
  ),
);
/** What is heard besides speech. */
const sounds =
  /\b(?:music|applause|laughter|laughing|laughs|inaudible|crosstalk|silence|pause|noise|foreign|indistinct|ringing|unintelligible|audio|speech|clapping|cheering|background|playing|speaking|overlapping)\b|音乐|掌声|笑声/iu;

/** Reads a line. Text that only looks like a name, such as "[Music]" or "Date: …", names nobody. */
export function readTurnLine(line: string, around: Around): TurnLine {
  const whole = line.trim();
  const start = withoutMarks(whole);
  const began = timeAtStart.exec(start.slice(0, maxBeginning));
  const time = began === null ? undefined : secondsOf(began.groups);
  const afterTime = began === null ? start : start.slice(began[0].length);
  const rest = withoutMarks(afterTime.replace(/^[\s–—|]+/u, ""));
  const unnamed = { time, speaker: undefined, text: rest };
  if (rest === "" || (time === undefined && item.test(whole) && !timeAtEnd.test(rest))) return unnamed;
  const tagged = voice.exec(rest);
  if (tagged !== null) return { time, speaker: tagged[1]?.trim(), text: rest.slice(tagged[0].length) };
  return (
    beforeColon(rest, time) ??
    inBrackets(rest, time, around) ??
    (rest.length > maxBeginning ? undefined : heading(rest, time, /^\s*[–—|-]/u.test(afterTime), around)) ??
    unnamed
  );
}

/** Whether a line has a time and nothing else. */
function isTimeAlone(line: string): boolean {
  const start = line.trim();
  const began = timeAtStart.exec(start.slice(0, maxBeginning));
  return began !== null && began[0].length === start.length;
}

/** "Ann: …", "[Ann]: …", "**Ann** (0:03): …", "From Ann to Everyone: …" after a time. */
function beforeColon(rest: string, time: number | undefined): TurnLine | undefined {
  const at = placeOfColon(rest.slice(0, maxBeginning));
  if (at === undefined) return undefined;
  const { label, time: later } = withoutTime(bare(rest.slice(0, at)));
  const sender = time === undefined ? undefined : /^From +(\S.*)$/u.exec(label)?.[1]?.split(" to ", 1)[0];
  const speaker = bare(sender ?? label);
  const behind = rest
    .slice(at + 1)
    .replace(/^(?:\*\*|__|[*_])/u, "")
    .trim();
  if ((!isName(speaker) && !code.test(speaker)) || /^<?https?:/u.test(behind)) return undefined;
  const own = later === undefined && isTimeAlone(behind) ? timeAtStart.exec(behind) : null; // "Ann: (0:03)"
  return own === null
    ? { time: time ?? later, speaker, text: behind }
    : { time: time ?? secondsOf(own.groups), speaker, text: "" };
}

/** "[Ann Lee] …", "(Ann Lee)" above what she says, "[Ann Lee] 10:23:45". */
function inBrackets(rest: string, time: number | undefined, { next }: Around): TurnLine | undefined {
  const end = brackets[rest.charAt(0)];
  const at = end === undefined ? -1 : rest.slice(0, maxBeginning).indexOf(end);
  // Markdown writes links in brackets.
  if (at === -1 || rest.startsWith("(http", at + 1)) return undefined;
  const label = bare(rest.slice(1, at));
  const behind = rest.slice(at + 1).trim();
  const isSpoken = behind !== "" || isText(next);
  if (!isSpoken || sounds.test(label)) return undefined;
  const later = timeAtEnd.exec(` ${behind}`);
  const isTimed = later !== null && later[0].trim() === behind;
  if (!code.test(label) && !(isTimed || rest.startsWith("【") ? isName(label) : isFullName(label))) return undefined;
  return { time: time ?? (isTimed ? secondsOf(later.groups) : undefined), speaker: label, text: isTimed ? "" : behind };
}

/** "Ann Lee  0:03", "0:03 - Ann", "0:03 Ann Lee" above what she says, "Ann Lee" between times and what she says. */
function heading(
  rest: string,
  time: number | undefined,
  isDivided: boolean,
  { previous, next, isRepeated }: Around,
): TurnLine | undefined {
  const { label, time: later, isApart } = withoutTime(rest);
  const speaker = bare(label);
  const named = { time: time ?? later, speaker, text: "" };
  if (later !== undefined && time === undefined)
    return isName(speaker) || (isApart && name.test(speaker)) ? named : undefined;
  if (!isText(next) || (time === undefined && !isTimeAlone(previous ?? ""))) return undefined;
  if (!code.test(speaker) && !(isDivided ? isName(speaker) : isFullName(speaker))) return undefined;
  // Between a time and a text, a name alone can be the beginning of a sentence.
  return time !== undefined || isRepeated() ? named : undefined;
}

/** Whether a line is something that somebody says. */
function isText(line: string | undefined): boolean {
  return line !== undefined && line.trim() !== "" && !timeAtStart.test(line.trim().slice(0, maxBeginning));
}

/** Divides a label from the time at its end. `isApart` if more than a blank divides them. */
function withoutTime(label: string): { label: string; time: number | undefined; isApart: boolean } {
  const found = timeAtEnd.exec(label);
  if (found === null) return { label, time: undefined, isApart: false };
  const before = label.slice(0, found.index + 1);
  return { label: bare(before), time: secondsOf(found.groups), isApart: /[ \t]{2}$|\t$/u.test(before) };
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
function bare(label: string): string {
  let [from, to] = [0, label.length];
  const isMark = (at: number): boolean => "*_|–— \t-".includes(label.charAt(at));
  while (from < to && isMark(from)) from++;
  while (from < to && isMark(to - 1)) to--;
  const inner = label.slice(from, to).trim();
  return brackets[inner.charAt(0)] === inner.at(-1) && inner.length > 2 ? bare(inner.slice(1, -1)) : inner;
}

/** Whether a label is likely to be a name: a few words, of which neither the first nor the last is in lower case. */
function isName(label: string): boolean {
  if (!name.test(label) || labels.has(label.toLowerCase())) return false;
  if (label.length > maxUnspaced && unspaced.test(label)) return false;
  const words = label.split(/\s+/u);
  const [first = "", last = ""] = [words[0], words.at(-1)];
  const isParticle = particles.has(first) && words.length > 1;
  return words.length <= maxWords && (isParticle || !lower.test(first)) && !lower.test(last) && commas(label) <= 1;
}

/** Whether a label is likely to be a name even where nothing but a time or a bracket marks it. */
function isFullName(label: string): boolean {
  const words = label.split(/\s+/u);
  return isName(label) && words.length > 1 && words.every((word) => upper.test(word) || particles.has(word));
}

function commas(label: string): number {
  return label.split(",").length - 1;
}

/** Returns the seconds of a time; those of the day if it has a date or a half of the day. */
function secondsOf(groups: Readonly<Record<string, string | undefined>> | undefined): number | undefined {
  const { date, clock: text, half: part } = groups ?? {};
  if (text === undefined) return undefined;
  const parts = text.replace(",", ".").split(":").map(Number);
  const isOfDay = (date !== undefined || part !== undefined) && parts.length === 2;
  const seconds = (isOfDay ? [...parts, 0] : parts).reduce((sum, one) => sum * 60 + one, 0);
  if (part === undefined) return seconds;
  return (seconds % 43_200) + (part.toLowerCase() === "p" ? 43_200 : 0);
}
