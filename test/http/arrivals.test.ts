// A port that closes accepts the connections that arrived before, and their requests get responses.
import { expect, test } from "vitest";
import { exchange } from "../fixtures/clients/raw.ts";
import { createListener } from "../../src/http/listener.ts";

/** As many as the kernel's queue of a port surely holds. */
const arriving = 50;
const request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

test("a listener that closes serves every connection that waits to be accepted [OPS-16]", async () => {
  const listener = createListener({
    handle: (_request, response) => void response.end("ok"),
    rejectMessage: () => "",
    rejectExpectation: () => undefined,
    rejectSlow: () => undefined,
    peersAreClients: true,
    onLimit: () => undefined,
  });
  const port = await listener.listen(0, "127.0.0.1");
  expect(await servedWhileClosing(port, () => void listener.close(4_000, 0))).toBe(arriving);
});

/**
 * Connects often in one turn of the event loop, in which the kernel completes the connections and nobody accepts them,
 * and closes the port in the same turn. Returns how many got a response.
 */
async function servedWhileClosing(port: number, close: () => void): Promise<number> {
  const exchanges = Array.from({ length: arriving }, () => exchange(`http://127.0.0.1:${port}`, request));
  close();
  const statuses = (await Promise.all(exchanges)).map(({ responses }) => responses[0]?.status);
  return statuses.filter((status) => status === 200).length;
}
