// Tests the simulated network of the drills: what each state of a link does to its bytes.
import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Network } from "./fixture/network.ts";
import { startNetwork } from "./fixture/network.ts";

// This process is both client and server. The network only distinguishes them by name.
const network: Network = startNetwork(() => new Map([[process.pid, "client"]]));
/** What the server received on each connection. */
const received: string[] = [];
const server = createServer((socket) => {
  const at = received.push("") - 1;
  socket.on("error", () => undefined);
  socket.on("data", (bytes) => {
    received[at] += bytes.toString();
    socket.write(`<${bytes.toString()}>`);
  });
});
let port = 0;

beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  port = Number((await network.join("server", `127.0.0.1:${(server.address() as AddressInfo).port}`)).split(":")[1]);
});
afterAll(async () => {
  await network.close();
  await new Promise((resolve) => server.close(resolve));
});

/** A connection, and what it has received. */
function open(): { socket: Socket; text: () => string; ended: Promise<unknown> } {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (bytes) => (text += bytes.toString()));
  const ended = new Promise((resolve) => socket.once("error", resolve).once("close", resolve));
  return { socket, text: () => text, ended };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5);
}

test("an open link passes everything both ways", async () => {
  const { socket, text } = open();
  socket.write("a");
  await until(() => text() === "<a>");
  socket.write("b");
  await until(() => text() === "<a><b>");
  expect([received.at(-1), text()]).toEqual(["ab", "<a><b>"]);
  socket.destroy();
});

test("a rejected link resets open and new connections, but not those of other processes", async () => {
  const before = open();
  before.socket.write("a");
  await until(() => before.text() === "<a>");
  network.set(["another"], ["server"], "rejected");
  before.socket.write("b");
  await until(() => before.text() === "<a><b>");
  network.set(["client"], ["server"], "rejected");
  await before.ended;
  const during = open();
  during.socket.write("lost");
  await during.ended;
  network.heal();
  const after = open();
  after.socket.write("c");
  await until(() => after.text() === "<c>");
  after.socket.destroy();
  expect(received.some((text) => text.includes("lost"))).toBe(false);
});

test("a frozen link holds requests until it is open again", async () => {
  const { socket, text } = open();
  socket.write("a");
  await until(() => text() === "<a>");
  network.set(["client"], ["server"], { held: "requests" });
  socket.write("held");
  await sleep(100);
  expect(received.at(-1)).toBe("a");
  network.heal();
  await until(() => text() === "<a><held>");
  socket.destroy();
});

test("a link can hold replies while the requests arrive", async () => {
  const { socket, text } = open();
  socket.write("a");
  await until(() => text() === "<a>");
  network.set(["client"], ["server"], { held: "replies" });
  socket.write("b");
  await until(() => received.at(-1) === "ab");
  await sleep(50);
  expect(text()).toBe("<a>");
  network.heal();
  await until(() => text() === "<a><b>");
  socket.destroy();
});

test("held data is lost if its connection is closed", async () => {
  const { socket, text, ended } = open();
  socket.write("a");
  await until(() => text() === "<a>");
  network.set(["client"], ["server"], { held: "both" });
  socket.write("lost");
  await sleep(50);
  socket.destroy();
  await ended;
  await sleep(50);
  network.heal();
  await sleep(100);
  expect(received.at(-1)).toBe("a");
});

test("a slow link delivers delayed data in order", async () => {
  const { socket, text } = open();
  socket.write("a");
  await until(() => text() === "<a>");
  network.set(["client"], ["server"], { delayMs: 60 });
  const begun = performance.now();
  for (const letter of ["b", "c", "d"]) {
    socket.write(letter);
    await sleep(5);
  }
  network.heal();
  socket.write("e");
  await until(() => received.at(-1) === "abcde");
  // A delay is never shorter than requested.
  expect(performance.now() - begun).toBeGreaterThan(55);
  socket.destroy();
});
