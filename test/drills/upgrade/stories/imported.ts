// A client of the internal listener that repeatedly upserts the same external ids, alternating between the versions.
import type { Version } from "../fleet.ts";
import { otherThan } from "../fleet.ts";
import type { Scene, Story } from "./story.ts";
import { dataOf, ingest, read, readBoth, same } from "./story.ts";

/** How many contacts, each with its records, are written in turn. */
const subjects = 3;

interface Stored {
  readonly path: string;
  readonly data: object;
}

/** Every field of every kind of record is the same when one version writes it and the other reads it. */
export function importedStory(scene: Scene, name: string): Story {
  const stored = new Map<number, readonly Stored[]>();

  async function put(number: number, to: Version): Promise<readonly Stored[]> {
    const external = `${name}-${number % subjects}`;
    const text = (field: string): string => `${field} ${number}`;
    const other = otherThan(to);
    const times = {
      created_at: "2026-01-01T00:00:00.000Z",
      updated_at: new Date(Date.UTC(2026, 0, 2) + number).toISOString(),
    };
    const contact = {
      full_name: text("Ann"),
      email: `${external}.${number}@example.com`,
      phone: `+1 ${number}`,
      notes: text("notes"),
      memory: text("memory"),
      ...times,
      inferred_name: text("inferred"),
    };
    const id = await ingest(scene, to, "UpsertContacts", "contacts", { external_id: external, ...contact });
    const session = {
      title: text("title"),
      subtitle: text("subtitle"),
      session_date: "2026-01-03T00:00:00.000Z",
      session_date_end: "2026-01-03T01:00:00.000Z",
      recording_status: text("status"),
      source: text("source"),
      conference_provider: "zoom",
      conference_url: `https://zoom.example/${number}`,
    };
    const document = `https://docs.example/${number}`;
    const sessionId = await ingest(scene, other, "UpsertSessions", "sessions", {
      external_id: external,
      contact_external_id: external,
      ...session,
      provider_doc_url: document,
      ...times,
    });
    const note = { content: text("note"), source: text("crm"), ...times };
    const noteId = await ingest(scene, to, "UpsertContactNotes", "notes", {
      external_id: external,
      contact_external_id: external,
      ...note,
    });
    const summary = { title: text("heading"), title_slug: `heading-${number}`, content: text("summary"), position: 2 };
    await ingest(scene, other, "UpsertSessionNotes", "notes", {
      external_id: external,
      session_external_id: external,
      ...summary,
      type: "SESSION_NOTE_TYPE_USER_TEMPLATE",
      created_at: times.created_at,
    });
    await ingest(scene, to, "PutTranscripts", "transcripts", {
      session_external_id: external,
      transcript: text("spoken"),
    });
    const { title, subtitle, session_date, recording_status } = session;
    const { conference_url, ...shown } = session;
    return [
      {
        path: `/v1/contacts/${id}`,
        data: {
          id,
          ...contact,
          notes_timeline: [{ id: noteId, ...note }],
          recent_sessions: [{ id: sessionId, title, subtitle, session_date, recording_status }],
          archived_at: null,
        },
      },
      {
        path: `/v1/sessions/${sessionId}`,
        data: {
          id: sessionId,
          ...shown,
          client: { id, full_name: contact.full_name, email: contact.email },
          conference_url,
          google_doc_url: document,
          ...times,
          notes: [{ ...summary, type: "user_template" }],
        },
      },
      {
        path: `/v1/sessions/${sessionId}/transcript`,
        data: { session_id: sessionId, transcript: text("spoken"), recording: null },
      },
    ];
  }

  return {
    async step(number, to) {
      const all = await put(number, to);
      stored.set(number % subjects, all);
      for (const { path, data } of all) {
        for (const by of [to, otherThan(to)])
          same(
            scene,
            `${path}, written to both versions in turn and read from the ${by} one`,
            dataOf(await read(scene, by, path, name)),
            data,
          );
      }
    },
    async check() {
      for (const { path, data } of [...stored.values()].flat())
        same(scene, path, await readBoth(scene, path, name), data);
      await readBoth(scene, "/v1/sessions", "the list of sessions");
    },
    left: () => ({ contacts: stored.size, sessions: stored.size, notes: stored.size * 2 }),
  };
}
