// Finds an undertaking by what titles call it.
import { coachingTopics } from "./coaching.ts";
import { projects } from "./projects.ts";
import type { Topic } from "./topic.ts";

const topics = new Map([...projects, ...coachingTopics].map((topic) => [topic.label, topic]));

/** The topic of a label. Fails where there is none. */
export function topicOf(label: string): Topic {
  const topic = topics.get(label);
  if (topic === undefined) throw new Error(`no topic is called ${label}`);
  return topic;
}
