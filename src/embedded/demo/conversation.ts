// Generates a transcript: pieces of dialogue until it is long enough, with the time before each turn.
import { deck, pick, type Random } from "./random.ts";
import { fill, type Slots } from "./template.ts";
import dialogues from "./texts/dialogues.json" with { type: "json" };

const { openings, matters, questions, people, dealings, smallTalk, closings } = dialogues;

/** The number of pieces after which a long conversation continues with its next subject. */
const piecesOfSubject = 7;

/**
 * Returns the transcript of a conversation about these subjects, with slightly more than `length` characters. The
 * conversation lasts `seconds`. Each line is "[00:03:12] Ann: …".
 */
export function transcribe(
  speakers: Readonly<Record<"M" | "C", string>>,
  subjects: readonly Slots[],
  length: number,
  seconds: number,
  random: Random,
): string {
  const matter = deck(random, matters);
  const decks = [matter, matter, matter, ...[questions, people, dealings, smallTalk].map((list) => deck(random, list))];
  const turns: { speaker: string; text: string }[] = [];
  let size = 0;
  const say = (piece: readonly string[], slots: Slots): void => {
    for (const line of piece) {
      const speaker = speakers[line.startsWith("M: ") ? "M" : "C"];
      const text = fill(line.slice("M: ".length), slots, random);
      turns.push({ speaker, text });
      size += text.length + speaker.length + 14;
    }
  };
  const subject = (nth: number): Slots => subjects[Math.floor(nth / piecesOfSubject) % subjects.length] as Slots;
  say(pick(random, openings), subject(0));
  let pieces = 1;
  for (; size < length; pieces++) say(pick(random, decks)(), subject(pieces));
  say(pick(random, closings), subject(pieces));
  let said = 0;
  return turns
    .map(({ speaker, text }) => {
      const line = `[${clock(3 + (said / size) * (seconds - 8))}] ${speaker}: ${text}`;
      said += line.length + 1;
      return line;
    })
    .join("\n");
}

function clock(seconds: number): string {
  const [h, m, s] = [seconds / 3_600, (seconds / 60) % 60, seconds % 60].map((part) =>
    String(Math.floor(part)).padStart(2, "0"),
  );
  return `${h}:${m}:${s}`;
}
