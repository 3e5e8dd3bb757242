// Generates the transcripts of sessions, and the recordings that they come from.
import { timestamp } from "../../db/message.ts";
import type { SessionItem, TranscriptItem } from "../../gen/records/ingest/v1/items_pb.ts";
import type { Recording } from "../../gen/records/v1/sessions_pb.ts";
import { transcribe } from "./conversation.ts";
import { topicOf } from "./topics.ts";
import { between, chance, createRandom, pick, stableId, type Random } from "./random.ts";
import type { SessionPlan } from "./session-plan.ts";
import type { Story } from "./story.ts";

/** The number of characters above which a conversation also covers common subjects, which every company has. */
const long = 20_000;
const common = [
  "Annual plan",
  "Workload",
  "Head of sales",
  "Two teams, one",
  "CRM migration",
  "Returns",
  "Office move",
  "Support backlog",
].map(topicOf);

/** Returns the transcript of a session according to its recording status, or undefined if there is nothing to show. */
export function transcriptItem(
  plan: SessionPlan,
  session: SessionItem,
  story: Story,
  owner: string,
): TranscriptItem | undefined {
  const random = createRandom(`${plan.id}/transcript`);
  const { recordingStatus, source } = session;
  if (plan.start === undefined || plan.day > 0) return undefined;
  // Some completed sessions have no transcript, as if it had been deleted. Imported ones have no recording, as if
  // transcribed by hand.
  const isDone = recordingStatus === "completed" && (plan.length !== undefined || chance(random, 0.88));
  const isBegun = recordingStatus === "processing" || (recordingStatus === "failed" && chance(random, 0.5));
  if (!isDone && !isBegun) return undefined;
  const item: TranscriptItem = { $typeName: "records.ingest.v1.TranscriptItem", sessionId: plan.id };
  if (source !== "import") item.recording = recordingOf(plan, plan.start, recordingStatus === "failed", random);
  if (isDone) item.transcript = textOf(plan, story, owner, random);
  return item;
}

function textOf({ person, day, minutes, length }: SessionPlan, story: Story, owner: string, random: Random): string {
  const wanted = length ?? pick(random, [1_400, 2_000, 2_800, 3_600, 4_800, 6_500, 9_000]);
  const own = person?.topics ?? [];
  const others =
    wanted > long ? common.filter((topic) => !own.includes(topic)).slice(0, Math.floor(wanted / 14_000)) : [];
  const subjects = wanted > long ? [...own, ...others].map((topic) => story.slotsAt(day, topic)) : [story.slotsAt(day)];
  return transcribe({ M: owner, C: person?.first ?? "Guest" }, subjects, wanted, minutes * 60 - 40, random);
}

function recordingOf({ id, minutes }: SessionPlan, start: number, hasFailed: boolean, random: Random): Recording {
  const began = start + between(random, 0, 90_000);
  const seconds = minutes * 60 - between(random, 0, 30_000) / 1_000;
  const recording: Recording = { $typeName: "records.v1.Recording", id: stableId(`${id}/recording`) };
  if (!hasFailed && !chance(random, 0.06))
    recording.durationSeconds = chance(random, 0.5) ? Math.round(seconds) : seconds;
  if (!chance(random, 0.06)) recording.recordingStartedAt = timestamp(new Date(began));
  if (!hasFailed && recording.recordingStartedAt !== undefined && !chance(random, 0.04)) {
    recording.recordingEndedAt = timestamp(new Date(began + Math.round(seconds * 1_000)));
  }
  return recording;
}
