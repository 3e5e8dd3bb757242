// A process that was paused, such as with its machine, serves the requests that arrived meanwhile.
import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { newClient, useService } from "../support/client.ts";

const service = useService();
/** Longer than a reading of the switches is valid. */
const pauseMs = 1_500;

test("a write that arrives during a pause of the process is served, although its reading of the switches is too old then [ADM-06]", async () => {
  const { id } = await newClient(service());
  const { hostname, port } = new URL(service().internal);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  const body = JSON.stringify({ account_id: id, contacts: [{ full_name: "Ann" }] });
  const head = [
    "POST /records.ingest.v1.IngestService/UpsertContacts HTTP/1.1",
    "Host: localhost",
    "Connection: close",
    "Content-Type: application/json",
    `Authorization: Bearer ${service().serviceToken}`,
    `Content-Length: ${body.length}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  // The service runs in this process.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  const [response] = (await once(socket.setEncoding("utf8"), "data")) as [string];
  expect(response).toMatch(/^HTTP\/1\.1 200 /);
});
