// The subjects that clients work on for some months, as phrases for notes, titles and conversations.
import texts from "./texts/topics.json" with { type: "json" };

/** A subject. All phrases may contain slots. Sentences are impersonal, so that both speakers can say them. */
export interface Topic {
  /** The name in titles: "Warehouse move". */
  readonly label: string;
  /** The name in sentences: "the warehouse move". */
  readonly name: string;
  /** The purposes, beginning with "to". */
  readonly goals: readonly string[];
  /** The states of progress, as sentences. */
  readonly states: readonly string[];
  /** The obstacles, as sentences. */
  readonly troubles: readonly string[];
  /** The next steps: a verb without "to". */
  readonly steps: readonly string[];
  /** The agreements, as sentences. */
  readonly decisions: readonly string[];
  /** Quotes from the client, as sentences in the first person. */
  readonly quotes: readonly string[];
}

/** The subjects of companies. */
export const projects: readonly Topic[] = texts.projects;

/** The subjects of private clients. */
export const coachingTopics: readonly Topic[] = texts.coaching;

const topics = new Map([...projects, ...coachingTopics].map((topic) => [topic.label, topic]));

/** Returns the topic with this label. Fails if there is none. */
export function topicOf(label: string): Topic {
  const topic = topics.get(label);
  if (topic === undefined) throw new Error(`no topic is called ${label}`);
  return topic;
}
