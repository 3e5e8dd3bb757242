// A destroyed HTTP/2 session that has not closed yet: a timer for idle sessions must not throw.
import { once } from "node:events";
import type { ServerHttp2Session } from "node:http2";
import { connect, createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { announceEnd } from "../../src/http/listener.ts";

test("ending an idle session ignores one that is already destroyed", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  client.on("error", () => undefined);
  const [session] = (await once(server, "session")) as [ServerHttp2Session];
  session.destroy();
  expect(() => session.goaway()).toThrow("destroyed");
  expect(() => announceEnd(session)).not.toThrow();
  client.destroy();
  await new Promise((closed) => server.close(closed));
});
