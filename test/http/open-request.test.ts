// A response over HTTP/2 to a request whose body does not end.
import { connect } from "node:http2";
import { expect, onTestFinished, test, vi } from "vitest";
import { createListener } from "../../src/http/listener.ts";

/** The time that a request may take to arrive, in milliseconds (`src/http/listener.ts`). */
const requestTimeoutMs = 15_000;

test("a response that is still being written when the time of its request is over is complete [VAL-04]", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const listener = createListener({
    handle(_request, response) {
      response.writeHead(200);
      response.write("first, ");
      vi.advanceTimersByTime(requestTimeoutMs);
      setImmediate(() => response.end("last"));
    },
    rejectMessage: () => "",
    rejectExpectation: () => undefined,
    rejectSlow: () => undefined,
    peersAreClients: true,
    onLimit: () => undefined,
  });
  const session = connect(`http://127.0.0.1:${await listener.listen(0, "127.0.0.1")}`);
  const stream = session.request({ ":path": "/", ":method": "POST" }, { endStream: false });
  let text = "";
  stream.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  await new Promise((ended) => stream.once("end", ended));
  expect(text).toBe("first, last");
  session.destroy();
  await listener.close(0, 0);
});
