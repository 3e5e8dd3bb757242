// The Fastify peer: a handwritten service with request and response schemas, API keys, throttling and a log.
import { LogController, fastify } from "fastify";
import type { UUID } from "mongodb";
import { uuid } from "../../../src/db/mongo.ts";
import { createAccess } from "./access.ts";
import { rate } from "./bucket.ts";
import type { Rejected } from "./promised-writes.ts";
import type { ContactFields, WholeContact } from "./queries.ts";
import { contactByAggregation, contactByFinds, contactsByFinds, listSessions, searchNotes } from "./queries.ts";
import { appendLabelledNote, createContactOnce, createUniqueContact, prepareKeptResponses } from "./promised-writes.ts";
import { contactJson, notesJson, sessionsJson, timelineNoteJson } from "./rest.ts";
import { connectMongo, port, setting } from "./surroundings.ts";

declare module "fastify" {
  interface FastifyRequest {
    account: UUID;
  }
}

const db = (await connectMongo()).db();
const access = createAccess(db);
await prepareKeptResponses(db);
const getContact = setting("STYLE") === "aggregation" ? contactByAggregation : contactByFinds;

const text = { type: "string" };
const textOrNull = { type: ["string", "null"] };
const whole = { type: "integer" };
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const list = (items: object) => ({ type: "array", items });
const note = object({ id: text, content: text, source: text, created_at: text, updated_at: text });
const recentSession = object({
  id: text,
  title: textOrNull,
  subtitle: textOrNull,
  session_date: textOrNull,
  recording_status: textOrNull,
});
const contact = object({
  ...{
    id: text,
    full_name: textOrNull,
    email: textOrNull,
    phone: textOrNull,
    notes: textOrNull,
    memory: textOrNull,
    created_at: text,
    updated_at: text,
  },
  ...{
    notes_timeline: list(note),
    recent_sessions: list(recentSession),
    inferred_name: textOrNull,
    archived_at: textOrNull,
  },
});
const session = object({
  ...{
    id: text,
    title: textOrNull,
    subtitle: textOrNull,
    session_date: textOrNull,
    session_date_end: textOrNull,
    recording_status: textOrNull,
  },
  ...{
    source: textOrNull,
    conference_provider: textOrNull,
    client: { anyOf: [object({ id: text, full_name: textOrNull }), { type: "null" }] },
  },
});
const foundNote = object({
  kind: text,
  parent_id: text,
  parent_label: textOrNull,
  note_type: textOrNull,
  content: text,
  truncated: { type: "boolean" },
  created_at: textOrNull,
});
const pagination = object({
  limit: whole,
  offset: whole,
  has_more: { type: "boolean" },
  next_offset: { type: ["integer", "null"] },
});
const query = { type: "string", minLength: 2, maxLength: 100 };
const page = (limit: number) => ({
  limit: { ...whole, minimum: 1, maximum: 25, default: limit },
  offset: { ...whole, minimum: 0, default: 0 },
});
const byId = object({ id: { type: "string", format: "uuid" } });
const strict = (required: readonly string[]) => ({ required, additionalProperties: false });

// Logs one line per request instead of two.
const app = fastify({ logger: true, logController: new LogController({ disableRequestLogging: true }) });
app.decorateRequest("account");
app.addHook("onRequest", async (request, reply) => {
  reply.headers({ "RateLimit-Limit": rate, "RateLimit-Policy": `${rate};w=1` });
  const caller = await access(request.headers.authorization);
  const rejected =
    "rejected" in caller ? caller.rejected : caller.readOnly && request.method === "POST" ? 403 : undefined;
  if (rejected !== undefined)
    return reply.code(rejected).send({ error: { code: String(rejected), message: "rejected" } });
  if ("account" in caller) request.account = caller.account;
});
app.addHook("onResponse", (request, reply, done) => {
  request.log.info(
    { method: request.method, url: request.url, status: reply.statusCode, ms: reply.elapsedTime },
    "request",
  );
  done();
});
const rejection = ({ status }: Rejected) => ({
  error: { code: String(status), message: status === 404 ? "not found" : "conflict" },
});
const notFound = rejection({ status: 404 });
const invalidKey = { error: { code: "422", message: "the idempotency key is malformed" } };

app.get<{ Params: { id: string } }>(
  "/v1/contacts/:id",
  { schema: { params: byId, response: { 200: object({ data: contact }) } } },
  async ({ account, params }, reply) => {
    const found = await getContact(db, account, uuid(params.id));
    return found === null ? reply.code(404).send(notFound) : { data: contactJson(found) };
  },
);
app.get<{ Querystring: { query: string } }>(
  "/v1/contacts",
  {
    schema: {
      querystring: object({ query }, { required: ["query"] }),
      response: { 200: object({ data: list(contact) }) },
    },
  },
  async ({ account, query: { query: searchText } }) => ({
    data: (await contactsByFinds(db, account, searchText)).map(contactJson),
  }),
);
app.get<{ Querystring: { limit: number; offset: number } }>(
  "/v1/sessions",
  {
    schema: {
      querystring: object({ query, ...page(10) }),
      response: { 200: object({ data: list(session), pagination }) },
    },
  },
  async ({ account, query: { limit, offset } }) =>
    sessionsJson(await listSessions(db, account, limit, offset), limit, offset),
);
app.get<{ Querystring: { query: string; limit: number; offset: number } }>(
  "/v1/notes",
  {
    schema: {
      querystring: object({ query, ...page(15) }, { required: ["query"] }),
      response: { 200: object({ data: list(foundNote), pagination }) },
    },
  },
  async ({ account, query: { query: searchText, limit, offset } }) =>
    notesJson(await searchNotes(db, account, searchText, limit, offset), limit, offset),
);
app.post<{ Body: ContactFields }>(
  "/v1/contacts",
  {
    schema: {
      body: object(
        {
          full_name: { type: "string", minLength: 1, maxLength: 200 },
          email: { ...textOrNull, maxLength: 254 },
          phone: { ...textOrNull, maxLength: 50 },
        },
        strict(["full_name"]),
      ),
      response: { 201: object({ data: contact }) },
    },
  },
  async ({ account, headers, body: { full_name, email = null, phone = null } }, reply) => {
    const fields = { full_name, email, phone };
    const key = headers["idempotency-key"];
    if (key === undefined) {
      const created = await createUniqueContact(db, account, fields);
      if ("status" in created) return reply.code(created.status).send(rejection(created));
      const data = contactJson(created);
      return reply.code(201).header("Location", `/v1/contacts/${data.id}`).send({ data });
    }
    if (typeof key !== "string" || !/^[!-~]{1,128}$/.test(key)) return reply.code(422).send(invalidKey);
    const render = (created: WholeContact): string =>
      String(reply.serializeInput({ data: contactJson(created) }, "201"));
    const created = await createContactOnce(db, { account, key, fields, render });
    if ("status" in created) return reply.code(created.status).send(rejection(created));
    if (created.replayed) reply.header("Idempotent-Replayed", "true");
    return reply
      .code(201)
      .headers({ Location: `/v1/contacts/${created.id}`, "Content-Type": "application/json; charset=utf-8" })
      .send(created.body);
  },
);
app.post<{ Params: { id: string }; Body: { content: string } }>(
  "/v1/contacts/:id/notes",
  {
    schema: {
      params: byId,
      body: object({ content: { type: "string", minLength: 1, maxLength: 10_000 } }, strict(["content"])),
      response: { 201: object({ data: note }) },
    },
  },
  async ({ account, params, body }, reply) => {
    const appended = await appendLabelledNote(db, account, uuid(params.id), body.content);
    return "status" in appended
      ? reply.code(appended.status).send(rejection(appended))
      : reply.code(201).send({ data: timelineNoteJson({ ...appended, content: body.content, source: "api" }) });
  },
);
await app.listen({ port, host: "127.0.0.1" });
