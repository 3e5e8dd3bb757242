// Reads who said what, and when, from the files of meeting programs: WebVTT, SRT, SBV, and text with speakers.

/** What somebody said without a pause. Times are in seconds from the beginning. */
export interface Turn {
  readonly speaker: string | undefined;
  readonly start: number | undefined;
  readonly end: number | undefined;
  readonly text: string;
}

/** A turn of one speaker does not become longer than this, in seconds, so that a time is near every sentence. */
const maxTurn = 60;
/** `Ann Lee  0:15`, as Otter and Teams write it, `[Ann Lee] 09:00:15` of Zoom, and `0:15 - Ann Lee`, as Fathom does. */
const headings = [
  /^(?<speaker>\S[^:\n]{0,80}?)[ \t]{1,8}[([]?(?<time>(?:\d{1,2}:)?\d{1,2}:\d\d)[)\]]?:?$/,
  /^(?<time>(?:\d{1,2}:)?\d{1,2}:\d\d)[ \t]+-[ \t]+(?<speaker>[^\s:][^:\n]*)$/,
] as const;
/** `[00:00:15] Ann: …`, as a session has its transcript. */
const timeBefore = /^\[?(?<time>(?:\d{1,2}:)?\d{1,2}:\d\d)(?:[.,]\d{1,3})?\]?[ \t]+/;
const timeAlone = /^\[?((?:\d{1,2}:)?\d{1,2}:\d\d)\]?$/;
const name = /^[\p{L}\p{N}][^<>[\]]*$/u;
const maxName = 61;

/** Returns the turns of a text; undefined if it is none of these forms. */
export function turnsIn(text: string): readonly Turn[] | undefined {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
  const cues = cuesIn(lines);
  const turns = cues.length > 0 ? cues : speechesIn(lines);
  return turns.length === 0 ? undefined : joined(turns);
}

/** Returns a transcript with a line for each turn: `[00:03:12] Ann: …`. */
export function transcriptOf(turns: readonly Turn[]): string {
  return turns
    .map(({ speaker, start, text }) => {
      const time = start === undefined ? "" : `[${clock(start)}] `;
      return `${time}${speaker === undefined ? "" : `${speaker}: `}${text}`;
    })
    .join("\n");
}

/** Joins the turns of one speaker that follow each other. */
export function joined(turns: readonly Turn[]): readonly Turn[] {
  const done: Turn[] = [];
  for (const turn of turns) {
    const last = done.at(-1);
    const isLong = (turn.start ?? 0) - (last?.start ?? 0) > maxTurn;
    if (last !== undefined && last.speaker === turn.speaker && !isLong && last.start !== undefined)
      done[done.length - 1] = { ...last, end: turn.end, text: `${last.text} ${turn.text}` };
    else done.push(turn);
  }
  return done;
}

function cuesIn(lines: readonly string[]): Turn[] {
  const turns: Turn[] = [];
  // In WebVTT, an empty line ends a cue, and a comment can follow. Other programs write empty lines within cues.
  const endsAtEmptyLine = lines[0]?.startsWith("WEBVTT") === true;
  for (let at = 0; at < lines.length; at++) {
    const [start, end] = timesIn(lines[at]) ?? [];
    if (start === undefined) continue;
    const said: string[] = [];
    while (at + 1 < lines.length && !(endsAtEmptyLine && lines[at + 1] === "") && !beginsCue(lines, at + 1))
      said.push(lines[++at] ?? "");
    turns.push(...turnsOfCue(said.join("\n"), start, end));
  }
  return turns;
}

/** Returns whether a cue begins in this line: with its number, with a name after an empty line, or with its timing. */
function beginsCue(lines: readonly string[], at: number): boolean {
  const isName = /^\d+$/.test(lines[at]?.trim() ?? "") || lines[at - 1]?.trim() === "";
  return (isName && timesIn(lines[at + 1]) !== undefined) || timesIn(lines[at]) !== undefined;
}

function timesIn(line = ""): readonly [number | undefined, number | undefined] | undefined {
  const [from, to, ...others] = line.length > 200 ? [] : line.split(line.includes("-->") ? "-->" : ",");
  if (others.length > 0) return undefined;
  // Settings of WebVTT can follow.
  const [start, end] = [secondsIn(from?.trim()), secondsIn(to?.trim().split(/[ \t]/, 1)[0])];
  return start === undefined || end === undefined ? undefined : [start, end];
}

/** Returns the voices of a cue: `<v Ann>…</v>`, or `Ann: …`. */
function turnsOfCue(cue: string, start: number | undefined, end: number | undefined): Turn[] {
  const voices = cue.split(/<v(?:\.[^\s<>]*)?[ \t]+/);
  return voices.flatMap((piece, at) => {
    const close = at === 0 ? -1 : piece.indexOf(">");
    const text = plain(piece.slice(close + 1));
    const named = at === 0 ? spokenIn(text) : undefined;
    const speaker = close > 0 ? plain(piece.slice(0, close)) : named?.speaker;
    return text === "" ? [] : [{ speaker, start, end, text: named?.text ?? text }];
  });
}

/** Divides a line such as `Ann: …`. Returns undefined for any other. */
function spokenIn(line: string): { readonly speaker: string; readonly text: string } | undefined {
  const colon = line.indexOf(":");
  const speaker = line.slice(0, colon);
  const text = line.slice(colon + 1).trimStart();
  const isSpoken = colon > 0 && colon <= maxName && line[colon + 1] === " " && text !== "" && name.test(speaker);
  return isSpoken ? { speaker, text } : undefined;
}

const entities: Readonly<Record<string, string>> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", "#39": "'", "#34": '"', nbsp: " ", lrm: "", rlm: "" },
};

/** Returns a text without tags and line breaks. */
function plain(text: string): string {
  return text
    .replace(/<\/?[a-z0-9:.][^<>]*>/gi, "")
    .replace(/\{\\[^{}]*\}/g, "")
    .replace(/&([a-z]{2,4}|#3[49]);/gi, (match, name: string) => entities[name.toLowerCase()] ?? match)
    .replace(/\s+/g, " ")
    .trim();
}

/**
 * Returns what each speaker said in a text with headings such as `Ann Lee  0:15`, or lines such as `Ann: …`; nothing if
 * nobody is named. A line without a speaker continues the one before.
 */
function speechesIn(lines: readonly string[]): Turn[] {
  const turns: Turn[] = [];
  let [speaker, start]: [string | undefined, number | undefined] = [undefined, undefined];
  let hasSpeaker = false;
  for (const line of lines.map(withoutMarkdown)) {
    if (line === "" || footer.test(line)) continue;
    const begin = line.slice(0, 120);
    const groups = headings.map((one) => one.exec(begin)?.groups).find((one) => one !== undefined);
    const alone = timeAlone.exec(begin)?.[1];
    const before = timeBefore.exec(begin);
    const spoken = before === null ? undefined : spokenIn(line.slice(before[0].length));
    const named = spokenIn(line);
    if (spoken !== undefined) {
      [speaker, start] = [undefined, secondsIn(before?.groups?.["time"])];
      turns.push({ ...spoken, start, end: undefined });
      hasSpeaker = true;
    } else if (groups !== undefined && line.length === begin.length) {
      [speaker, start] = [groups["speaker"]?.replace(/^\[(.*)\]$/, "$1").trim(), secondsIn(groups["time"])];
      hasSpeaker = true;
    } else if (alone !== undefined) {
      [speaker, start] = [undefined, secondsIn(alone)];
    } else if (named !== undefined && speaker === undefined) {
      turns.push({ ...named, start, end: undefined });
      hasSpeaker = true;
    } else {
      const last = turns.at(-1);
      if (last !== undefined && last.start === start && (speaker === undefined || last.speaker === speaker))
        turns[turns.length - 1] = { ...last, text: `${last.text} ${line}` };
      else turns.push({ speaker, start, end: undefined, text: line });
    }
  }
  return hasSpeaker ? turns : [];
}

/** What programs add to a transcript. */
const footer =
  /^(?:Transcribed by https?:\/\/otter\.ai|This editable transcript was computer generated|(?:Meeting|Transcription) ended after )/i;

/** Google's document is exported as Markdown: `**Ann:** …`, `### 00:05:00 {#00:05:00}`. */
function withoutMarkdown(line: string): string {
  return line
    .trim()
    .replace(/\{#[^{}]*\}$/, "")
    .replace(/^#{1,6} /, "")
    .replace(/^\*\*([^*]{1,80})\*\*/, "$1")
    .replace(/^\*(?=This editable)|\\(?=[-.])/g, "")
    .trim();
}

/** Returns the seconds of a time such as `1:02:03.5`, `00:15` or `00:00:03,120`. */
export function secondsIn(time: string | undefined): number | undefined {
  if (time === undefined || !/^(?:\d{1,3}:)?\d{1,2}:\d{1,2}(?:[.,]\d{1,3})?$/.test(time)) return undefined;
  return time
    .replace(",", ".")
    .split(":")
    .reduce((sum, part) => sum * 60 + Number(part), 0);
}

function clock(seconds: number): string {
  const parts = [seconds / 3_600, (seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(Math.floor(part)).padStart(2, "0")).join(":");
}
