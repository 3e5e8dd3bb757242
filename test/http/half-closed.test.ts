// Clients that close their sending half after the request: they get their responses, and those that have left are
// noticed.
import { once } from "node:events";
import { connect } from "node:net";
import { MongoClient } from "mongodb";
import { expect, onTestFinished, test, vi } from "vitest";
import { useService } from "../support/client.ts";
import { linesOf } from "../observability/request-lines.ts";

const service = useService();

/** Sends the bytes and the end of input, and returns everything until the service closes the connection. */
async function sendAndEnd(base: string, bytes: string): Promise<string> {
  const socket = connect({ port: Number(new URL(base).port), host: new URL(base).hostname, allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  socket.end(bytes);
  await once(socket, "end");
  return text;
}

const statuses = (text: string): string[] => text.match(/(?<=HTTP\/1\.1 )\d{3}/g) ?? [];
/** Without interim responses, which a busy machine adds. */
const final = (text: string): string[] => statuses(text).filter((status) => status !== "102");
const head = (line: string, headers = ""): string => `${line} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;

test("responds to a client that ends its input after its requests, and then closes the connection [ERR-08]", async () => {
  const { base, internal } = service();
  const { key } = await service().account();
  const withKey = `Authorization: Bearer ${key}\r\n`;
  const search = head("GET /v1/contacts?query=zz", withKey);
  const body = '{"full_name":"Bo Day"}';
  const type = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  const create = head("POST /v1/contacts", withKey + type) + body;
  expect(final(await sendAndEnd(base, head("GET /v1/health")))).toEqual(["200"]);
  expect(final(await sendAndEnd(base, search))).toEqual(["200"]);
  expect(final(await sendAndEnd(base, create))).toEqual(["201"]);
  expect(final(await sendAndEnd(base, head("GET /v1/health") + create + search))).toEqual(["200", "201", "200"]);
  expect(final(await sendAndEnd(internal, head("GET /livez")))).toEqual(["200"]);
});

test.each([
  ["nothing", "", []],
  ["a part of the preface of HTTP/2", "PRI * HT", []],
  ["a part of the headers", "GET /v1/health HTTP/1.1\r\nHos", ["400"]],
  ["a part of the body", `${head("POST /v1/contacts", "Content-Length: 9\r\n")}{`, ["400"]],
])("closes the connection of a client that ends its input after %s [ERR-08]", async (_, sent, expected) => {
  expect(final(await sendAndEnd(service().base, sent)).slice(-1)).toEqual(expected);
});

test.each([
  ["has left, ends its request before the response", true],
  ["waits, gets interim responses and then its response", false],
])("while a request is slow, a client that has ended its input and %s [ERR-08]", async (_, leaves) => {
  const { id, key } = await service().account();
  const name = leaves ? "Una Leaving" : "Una Waiting";
  const created = await fetch(`${service().base}/v1/contacts`, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify({ full_name: name }),
  });
  const path = created.headers.get("location") ?? "";
  const administrator = await MongoClient.connect(service().administratorUri);
  onTestFinished(() => administrator.close());
  const session = administrator.startSession();
  session.startTransaction();
  // An open transaction locks the contact, so that the update waits.
  const contacts = administrator.db().collection("contacts");
  await contacts.updateOne({ full_name: name }, { $set: { locked_by_the_test: true } }, { session });

  const body = '{"full_name":"Bo Daw"}';
  const sent = head(
    `PATCH ${path}`,
    `Authorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`,
  );
  const socket = connect({ port: Number(new URL(service().base).port), host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  socket.end(sent + body);
  if (leaves) {
    await once(socket, "finish");
    socket.destroy();
    expect(await linesOf(({ status, account }) => status === 499 && account === id, service())).toHaveLength(1);
  } else await vi.waitFor(() => expect(statuses(text)).toContain("102"), { timeout: 4_000 });
  await session.abortTransaction();
  await session.endSession();
  if (leaves) return;
  await once(socket, "end");
  expect(statuses(text).at(-1)).toBe("200");
});
