// What a client works on for some months, in phrases from which notes, titles and conversations are made.
import texts from "./texts/topics.json" with { type: "json" };

/** One undertaking. All phrases may hold slots; sentences are impersonal, so that either side can say them. */
export interface Topic {
  /** How titles call it: "Warehouse move". */
  readonly label: string;
  /** How sentences call it: "the warehouse move". */
  readonly name: string;
  /** What it is for, beginning with "to". */
  readonly goals: readonly string[];
  /** How far it is: sentences. */
  readonly states: readonly string[];
  /** What is in the way: sentences. */
  readonly troubles: readonly string[];
  /** What is to do next: a verb without "to". */
  readonly steps: readonly string[];
  /** What was agreed: sentences. */
  readonly decisions: readonly string[];
  /** What the client said: sentences in the first person. */
  readonly quotes: readonly string[];
}

/** The undertakings of companies. */
export const projects: readonly Topic[] = texts.projects;

/** The undertakings of people who come for themselves. */
export const coachingTopics: readonly Topic[] = texts.coaching;

const topics = new Map([...projects, ...coachingTopics].map((topic) => [topic.label, topic]));

/** The topic of a label. Fails where there is none. */
export function topicOf(label: string): Topic {
  const topic = topics.get(label);
  if (topic === undefined) throw new Error(`no topic is called ${label}`);
  return topic;
}
