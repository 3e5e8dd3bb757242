// The floor: Node's HTTP server and the driver without any checks, in one style with a Redis token per request. It is
// the lower bound for any service on this driver.
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import { uuid } from "../../../src/db/mongo.ts";
import type { TranscriptDocument } from "../../../src/sessions/transcripts.ts";
import { plainTranscripts } from "../dataset/load.ts";
import type { ContactFields } from "./queries.ts";
import {
  contactByAggregation,
  contactByFinds,
  contactsByAggregation,
  contactsByFinds,
  listSessions,
  searchNotes,
} from "./queries.ts";
import { appendNote, createBareContact, createContact } from "./writes.ts";
import { contactJson, notesJson, sessionsJson, timelineNoteJson } from "./rest.ts";
import { createBucket } from "./bucket.ts";
import { connectMongo, port, setting } from "./surroundings.ts";

const db = (await connectMongo()).db();
/** The accounts to read from and write to. No key is required. */
const [account, writeAccount] = [uuid(setting("ACCOUNT")), uuid(setting("WRITE_ACCOUNT"))];
const style = setting("STYLE");
const inOne = style === "aggregation" || style === "bucket";
const [getContact, searchContacts] = inOne
  ? [contactByAggregation, contactsByAggregation]
  : [contactByFinds, contactsByFinds];
const insertContact = style === "bare" ? createBareContact : createContact;
const takeToken = style === "bucket" ? createBucket() : undefined;

createServer(
  (request, response) =>
    void serve(request, response).catch((error: unknown) => send(response, 500, { error: String(error) })),
).listen(port, "127.0.0.1");

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if ((await takeToken?.("everyone")) === false) return send(response, 429, {});
  const [path = "", search = ""] = (request.url ?? "").split("?");
  const [, , kind, id = "", part] = path.split("/");
  if (request.method === "POST" && id === "")
    return send(response, 201, {
      data: contactJson(await insertContact(db, writeAccount, await bodyOf<ContactFields>(request))),
    });
  if (request.method === "POST") {
    const note = await appendNote(db, writeAccount, uuid(id), (await bodyOf<{ content: string }>(request)).content);
    return note === null
      ? send(response, 404, {})
      : send(response, 201, {
          data: timelineNoteJson({ ...note, content: note.content ?? "", source: note.source ?? "" }),
        });
  }
  if (part === "transcript") return send(response, 200, { data: await transcriptJson(id) });
  if (kind === "contacts" && id !== "") {
    const found = await getContact(db, account, uuid(id));
    return found === null ? send(response, 404, {}) : send(response, 200, { data: contactJson(found) });
  }
  const parameters = new URLSearchParams(search);
  const [query, limit, offset] = [
    parameters.get("query") ?? "",
    parameters.get("limit"),
    Number(parameters.get("offset") ?? 0),
  ];
  if (kind === "contacts")
    return send(response, 200, { data: (await searchContacts(db, account, query)).map(contactJson) });
  if (kind === "notes")
    return send(
      response,
      200,
      notesJson(await searchNotes(db, account, query, Number(limit ?? 15), offset), Number(limit ?? 15), offset),
    );
  send(
    response,
    200,
    sessionsJson(await listSessions(db, account, Number(limit ?? 10), offset), Number(limit ?? 10), offset),
  );
}

/** Lets the driver decode the text and serializes it again. */
async function transcriptJson(session_id: string) {
  const found = await db
    .collection<Omit<TranscriptDocument, "text"> & { text: string }>(plainTranscripts)
    .findOne({ _id: uuid(session_id), account_id: account });
  return { session_id, transcript: found?.text ?? null, recording: null };
}

async function bodyOf<T>(request: IncomingMessage): Promise<T> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as T;
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": Buffer.byteLength(text),
  });
  response.end(text);
}
