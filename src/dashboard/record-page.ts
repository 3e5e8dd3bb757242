// The pages of one record, to which the links of assistants lead: a contact with its timeline, and a session with its
// notes and transcript. They are read only and need no script.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Contact } from "../gen/records/v1/contacts_pb.ts";
import type { SessionDetail } from "../gen/records/v1/sessions_pb.ts";
import { nameOfClient, nameOfContact, titleOfSession } from "../text/display-name.ts";
import type { Html } from "../text/html.ts";
import { html, lines } from "../text/html.ts";
import type { Page, User } from "./layout.ts";

export function contactPage(user: User, contact: Contact): Page {
  const name = nameOf(contact);
  const content = record(name, [
    factsOf([
      ["Email", contact.email],
      ["Phone", contact.phone],
      ["Archived", when(contact.archivedAt)],
    ]),
    section("Notes", textOf(contact.notes)),
    section("Memory", textOf(contact.memory)),
    section(
      "Timeline",
      ...contact.notesTimeline.map((note) => entry(undefined, when(note.createdAt), textOf(note.content))),
    ),
    section(
      "Recent sessions",
      ...contact.recentSessions.map((session) =>
        entry(link("session", session.id, titleOfSession(session)), when(session.sessionDate), undefined),
      ),
    ),
  ]);
  return { title: name, user, content, script: false, isRecord: true };
}

export function sessionPage(user: User, session: SessionDetail, transcript: string | undefined): Page {
  const title = titleOfSession(session);
  const content = record(title, [
    factsOf([
      ["With", session.client && link("contact", session.client.id, nameOfClient(session.client) ?? "Unnamed contact")],
      ["Subtitle", session.subtitle],
      ["Date", when(session.sessionDate)],
      ["End", when(session.sessionDateEnd)],
      ["Source", session.source],
    ]),
    section(
      "Notes",
      ...session.notes.map((note) =>
        entry(note.title ? html`${note.title}` : undefined, undefined, textOf(note.content)),
      ),
    ),
    section("Transcript", textOf(transcript)),
  ]);
  return { title, user, content, script: false, isRecord: true };
}

function record(title: string, parts: readonly (Html | undefined)[]): Html {
  return html`<main class="record">
<h1 dir="auto">${title}</h1>
${lines(parts)}
</main>`;
}

/** Returns a section; undefined if it would be empty. */
function section(title: string, ...content: readonly (Html | undefined)[]): Html | undefined {
  if (content.every((part) => part === undefined)) return undefined;
  return html`<section>
<h2>${title}</h2>
${lines(content)}
</section>`;
}

function entry(title: Html | undefined, time: Html | undefined, text: Html | undefined): Html {
  return html`<article class="record-entry">
${title && html`<h3 dir="auto">${title}</h3>`}
${time && html`<p class="small">${time}</p>`}
${text}
</article>`;
}

function factsOf(facts: readonly (readonly [name: string, value: string | Html | undefined])[]): Html {
  const rows = facts.map(([name, value]) =>
    value === undefined || value === "" ? undefined : html`<div><dt>${name}</dt><dd dir="auto">${value}</dd></div>`,
  );
  return html`<dl>${lines(rows)}</dl>`;
}

/** Returns a text with its line breaks; undefined for an empty one. */
function textOf(text: string | undefined): Html | undefined {
  return text === undefined || text === "" ? undefined : html`<p class="record-text" dir="auto">${text}</p>`;
}

function when(time: Timestamp | undefined): Html | undefined {
  if (time === undefined) return undefined;
  const iso = timestampDate(time).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace("T", " ")} UTC</time>`;
}

function link(kind: "contact" | "session", id: string, text: string): Html {
  return html`<a href="/${kind}s/${id}">${text}</a>`;
}

function nameOf({ fullName: full_name, inferredName: inferred_name, email, phone }: Contact): string {
  return nameOfContact({ full_name, inferred_name, email, phone });
}
