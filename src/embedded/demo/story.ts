// The life of one person as slots for sentences: fixed colleagues, family and sums, and subjects that change over time.
import type { Calendar } from "./calendar.ts";
import { children, colleagues, partners } from "./names.ts";
import type { Person } from "./people.ts";
import { between, createRandom, deck, pick, type Random } from "./random.ts";
import type { Slots } from "./template.ts";
import lives from "./texts/lives.json" with { type: "json" };
import type { Topic } from "./topics.ts";

/** The facts about a person on any day. */
export interface Story {
  /** The first and the last day with events. */
  readonly begin: number;
  readonly end: number;
  /** Returns the slots of all templates as of a day, about the subject of that day or the given one. */
  slotsAt(day: number, topic?: Topic): Slots;
  /** Returns the subject of a day. */
  topicAt(day: number): Topic;
}

/** Creates the story of a person. The phrases of each subject come from decks, so that they rarely repeat. */
export function createStory(person: Person, owner: string, calendar: Calendar): Story {
  const random = createRandom(`${person.id}/story`);
  const life = lifeOf(person, owner, random);
  const phrasesOf = createPhrases(random);
  const begin = Math.max(-360, person.since + 2);
  const end = person.archived === undefined ? -1 : person.archived - 2;

  function topicAt(day: number): Topic {
    const { topics } = person;
    const part = (day - begin) / (end + 1 - begin);
    return topics[Math.min(topics.length - 1, Math.max(0, Math.floor(part * topics.length)))] as Topic;
  }

  return {
    begin,
    end,
    topicAt,
    slotsAt: (day, topic = topicAt(day)) => ({
      ...life,
      ...phrasesOf(topic),
      month: calendar.month(day, 1),
      lastMonth: calendar.month(day, -1),
    }),
  };
}

/** Returns the slots that stay the same for the person's whole life. */
function lifeOf(person: Person, owner: string, random: Random): Slots {
  const draw = (list: readonly string[]): string => pick(random, list);
  const team = deck(
    random,
    colleagues.filter((name) => name !== person.first),
  );
  const budget = 1_000 * pick(random, [12, 18, 24, 30, 36, 45, 48, 60, 75, 90, 120]);
  const { money } = person.city;
  return {
    first: person.first,
    name: person.fullName ?? person.inferredName ?? person.first,
    he: person.gender === "f" ? "she" : "he",
    him: person.gender === "f" ? "her" : "him",
    his: person.gender === "f" ? "her" : "his",
    me: owner,
    company: person.company,
    role: person.role,
    city: person.city.name,
    colleague: team(),
    colleague2: team(),
    partner: draw(partners.filter((name) => name !== person.first)),
    child: draw(children),
    hobby: draw(lives.hobbies),
    place: draw(lives.places),
    origin: draw(lives.origins),
    budget: money(budget),
    rate: money(100 * between(random, 9, 18)),
    amount: () => money((budget / 100) * between(random, 4, 35)),
    fee: () => money(10 * between(random, 8, 90)),
    weekday: () => draw(["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]),
    invoice: () => String(between(random, 2_100, 2_980)),
    ...person.known?.life,
  };
}

/** Returns a function that returns the slots of a topic, whose phrases come from decks. */
function createPhrases(random: Random): (topic: Topic) => Slots {
  const phrases = new Map<Topic, Slots>();
  return (topic) => {
    const known = phrases.get(topic);
    if (known !== undefined) return known;
    const { label, name, goals, states, troubles, steps, decisions, quotes } = topic;
    const drawn: Slots = {
      label,
      topic: name,
      goal: deck(random, goals),
      state: deck(random, states),
      trouble: deck(random, troubles),
      step: deck(random, steps),
      decision: deck(random, decisions),
      quote: deck(random, quotes),
    };
    phrases.set(topic, drawn);
    return drawn;
  };
}
