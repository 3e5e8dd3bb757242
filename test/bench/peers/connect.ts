// The plain connect-node peer: interceptors for logging, authentication, throttling and validation, and the same
// queries.
import { createServer as createHttp1 } from "node:http";
import { createServer as createHttp2 } from "node:http2";
import { create } from "@bufbuild/protobuf";
import type { Message } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createValidator } from "@bufbuild/protovalidate";
import type { ConnectRouter, Interceptor } from "@connectrpc/connect";
import { Code, ConnectError, createContextKey } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import type { UUID } from "mongodb";
import { pino } from "pino";
import { uuid } from "../../../src/db/mongo.ts";
import { ContactSchema, ContactService } from "../../../src/gen/records/v1/contacts_pb.ts";
import { createAccess } from "./access.ts";
import type { WholeContact } from "./queries.ts";
import { contactByFinds } from "./queries.ts";
import { connectMongo, port, setting } from "./surroundings.ts";

const db = (await connectMongo()).db();
const access = createAccess(db);
const log = pino();
const validator = createValidator();
const accountKey = createContextKey<UUID | undefined>(undefined);

const logging: Interceptor = (next) => async (request) => {
  const begun = performance.now();
  const response = await next(request);
  log.info({ rpc: request.method.name, ms: performance.now() - begun }, "request");
  return response;
};
const authentication: Interceptor = (next) => async (request) => {
  const caller = await access(request.header.get("authorization"));
  if ("rejected" in caller)
    throw new ConnectError("rejected", caller.rejected === 429 ? Code.ResourceExhausted : Code.Unauthenticated);
  request.contextValues.set(accountKey, caller.account);
  return next(request);
};
const validation: Interceptor = (next) => (request) => {
  if (request.stream) return next(request);
  const result = validator.validate(request.method.input, request.message as Message);
  if (result.kind !== "valid") throw new ConnectError(String(result.error), Code.InvalidArgument);
  return next(request);
};

const handler = connectNodeAdapter({
  interceptors: [logging, authentication, validation],
  routes: (router: ConnectRouter) =>
    router.service(ContactService, {
      async getContact({ contactId }, { values }) {
        const account = values.get(accountKey);
        const found = account && (await contactByFinds(db, account, uuid(contactId)));
        if (!found) throw new ConnectError("not found", Code.NotFound);
        return { contact: contactMessage(found) };
      },
    }),
});
const server = setting("STYLE") === "http2" ? createHttp2(handler) : createHttp1(handler);
server.listen(port, "127.0.0.1");

function contactMessage({ contact, timeline, sessions }: WholeContact) {
  return create(ContactSchema, {
    id: contact._id.toHexString(),
    ...optional({
      fullName: contact.full_name,
      email: contact.email,
      phone: contact.phone,
      notes: contact.notes,
      memory: contact.memory,
      inferredName: contact.inferred_name,
    }),
    createdAt: timestampFromDate(contact.created_at),
    updatedAt: timestampFromDate(contact.updated_at),
    notesTimeline: timeline.map(({ _id, content, source, created_at, updated_at }) => ({
      ...{
        id: _id.toHexString(),
        content,
        source,
        createdAt: timestampFromDate(created_at),
        updatedAt: timestampFromDate(updated_at),
      },
    })),
    recentSessions: sessions.map(({ _id, title, subtitle, session_date, recording_status }) => ({
      ...{
        id: _id.toHexString(),
        sessionDate: timestampFromDate(session_date),
        ...optional({ title, subtitle, recordingStatus: recording_status }),
      },
    })),
    ...(contact.archived_at === null ? {} : { archivedAt: timestampFromDate(contact.archived_at) }),
  });
}

/** Drops null properties, which a message omits. */
function optional<T extends Record<string, string | null>>(fields: T): { [Name in keyof T]?: string } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    [Name in keyof T]?: string;
  };
}
