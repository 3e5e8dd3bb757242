// The speaker of a passage: the name at the beginning of a turn, in the usual forms of transcripts.

/** The number of lines above a passage, and of UTF-16 units of each, that are searched for a name. */
const maxLines = 40;
const maxBeginning = 120;
const maxWords = 5;
/** A time such as "[00:03:12]", "(3:12)" or "00:03.120", and what divides it from a name. */
const time = /^[[(]?\d{1,3}(?::\d{2}){1,2}(?:[.,]\d{1,3})?[\])]?(?:$|[\s–-]+)/u;
const timeAtEnd = /\s[[(]?\d{1,3}(?::\d{2}){1,2}[\])]?$/u;
/** The tag of a speaker in WebVTT. */
const voice = /^<v(?:\.[\w-]{1,20})? ([^<>\n]{1,60})>/u;
const colon = /[:：]/u;
const name = /^\p{L}[\p{L}\p{M}\p{N}\s.'’()/&-]{0,59}$/u;
const lower = /^\p{Ll}/u;

/** Returns who speaks at this place in the text, in UTF-16 units; undefined if no line up to it has a name. */
export function speakerAt(text: string, place: number): string | undefined {
  let end = place;
  for (let lines = 0; lines < maxLines; lines++) {
    const start = end === 0 ? 0 : text.lastIndexOf("\n", end - 1) + 1;
    const found = speakerOf(text.slice(start, start + maxBeginning));
    if (found !== undefined || start === 0) return found;
    end = start - 1;
  }
  return undefined;
}

/** Returns the name at the beginning of a line: "Ann: …", "[00:03:12] Ann: …", "Ann (0:03): …", "<v Ann>…". */
function speakerOf(beginning: string): string | undefined {
  const [line = ""] = beginning.split(/[\r\n]/u, 1);
  const untimed = line.trimStart().replace(time, "");
  const tagged = voice.exec(untimed)?.[1];
  if (tagged !== undefined) return tagged.trim();
  const at = placeOfColon(untimed);
  // Without a colon, only a line with a name and a time begins a turn.
  if (at === undefined && !timeAtEnd.test(untimed.trimEnd())) return undefined;
  const label = untimed.slice(0, at).trim().replace(timeAtEnd, "").trim();
  return isName(label) ? label : undefined;
}

/** Returns the place of the first colon that ends a word; undefined if there is none. */
function placeOfColon(line: string): number | undefined {
  for (let at = line.search(colon); at !== -1 && at < line.length; at++) {
    if (!colon.test(line.charAt(at))) continue;
    const next = line.charAt(at + 1);
    if (next === "" || next.trim() === "" || line.charAt(at) === "：") return at;
  }
  return undefined;
}

/** Whether a label is likely to be a name: a few words, of which neither the first nor the last is in lower case. */
function isName(label: string): boolean {
  if (!name.test(label)) return false;
  const words = label.split(/\s+/u);
  return words.length <= maxWords && !lower.test(words[0] ?? "") && !lower.test(words.at(-1) ?? "");
}
