// Looks people up over gRPC, or over Connect with `--connect`, by the clients that are generated from the protos.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { SessionService } from "../../src/gen/records/v1/sessions_pb.ts";
import { connection } from "../connection.ts";
import { createTransport } from "./transport.ts";

const words = process.argv.slice(2).filter((argument) => argument !== "--connect");
const transport = createTransport(process.argv.includes("--connect") ? "connect" : "grpc", connection());
const contacts = createClient(ContactService, transport);
const sessions = createClient(SessionService, transport);

try {
  const found = await contacts.searchContacts({ query: words.join(" ") || "mathieu" });
  for (const { id, fullName, inferredName, email } of found.contacts) {
    console.log(`${fullName ?? inferredName ?? "Unnamed"} <${email ?? "no email"}>`);
    const list = await sessions.listSessions({ contactId: id, limit: 5 });
    for (const { title, sessionDate } of list.sessions) {
      console.log(
        `  ${sessionDate === undefined ? "undated   " : timestampDate(sessionDate).toISOString().slice(0, 10)} ${title ?? "Untitled"}`,
      );
    }
  }
  if (found.contacts.length === 0) console.log("Nobody was found.");
} catch (error) {
  const { code, rawMessage } = ConnectError.from(error);
  console.error(`${Code[code]}: ${rawMessage}`);
  process.exitCode = 1;
}
