// The floor: Node's HTTP server and the driver without any checks, in one style with a Redis token per request. It is
// the lower bound for any service on this driver.
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import { uuid } from "../../../src/db/mongo.ts";
import { contactByAggregation, listSessions } from "./queries.ts";
import { contactJson, sessionsJson } from "./rest.ts";
import { createBucket } from "./bucket.ts";
import { connectMongo, port, setting } from "./surroundings.ts";

const db = (await connectMongo()).db();
/** The account to read from. No key is required. */
const account = uuid(setting("ACCOUNT"));
const takeToken = setting("STYLE") === "bucket" ? createBucket() : undefined;
const limit = 10;

createServer(
  (request, response) =>
    void serve(request, response).catch((error: unknown) => send(response, 500, { error: String(error) })),
).listen(port, "127.0.0.1");

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if ((await takeToken?.("everyone")) === false) return send(response, 429, {});
  const [path = "", search = ""] = (request.url ?? "").split("?");
  const [, , , id] = path.split("/");
  if (id !== undefined) {
    const found = await contactByAggregation(db, account, uuid(id));
    return found === null ? send(response, 404, {}) : send(response, 200, { data: contactJson(found) });
  }
  const offset = Number(new URLSearchParams(search).get("offset") ?? 0);
  send(response, 200, sessionsJson(await listSessions(db, account, limit, offset), limit, offset));
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": Buffer.byteLength(text),
  });
  response.end(text);
}
