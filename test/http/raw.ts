// Speaks to a port byte by byte, and reads what HTTP/1.1 answers come back until the other side closes.
import { connect } from "node:net";
import { expect } from "vitest";

/** An answer as it stood on the wire. */
export interface RawAnswer {
  readonly status: number;
  /** By names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** What came back over a connection. */
export interface Exchange {
  readonly answers: readonly RawAnswer[];
  readonly text: string;
  /** Whether the other side closed the connection. */
  readonly closed: boolean;
}

/** Sends the bytes, in parts a while apart, and reads until the other side closes, or `patienceMs` have passed. */
export function exchange(
  base: string,
  bytes: string | Buffer | readonly string[],
  patienceMs = 4_000,
  apartMs = 0,
): Promise<Exchange> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const [first = "", ...parts] = Array.isArray(bytes) ? (bytes as readonly string[]) : [bytes as string | Buffer];
    const socket = connect(Number(port), hostname, () => {
      socket.setNoDelay(true).write(typeof first === "string" ? Buffer.from(first, "latin1") : first);
      parts.forEach((part, at) => setTimeout(() => socket.write(part), apartMs * (at + 1)));
    });
    const timer = setTimeout(() => end(false), patienceMs);
    function end(closed: boolean): void {
      clearTimeout(timer);
      socket.destroy();
      const all = Buffer.concat(chunks);
      resolve({ answers: parse(all), text: all.toString("latin1"), closed });
    }
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", () => end(true));
    socket.on("close", () => end(true));
    socket.on("end", () => end(true));
  });
}

function parse(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const end = rest.indexOf("\r\n\r\n");
    const [first = "", ...lines] = rest
      .subarray(0, end === -1 ? rest.length : end)
      .toString("latin1")
      .split("\r\n");
    const headers = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
    );
    const length = Number(headers.get("content-length") ?? 0);
    const start = end === -1 ? rest.length : end + 4;
    answers.push({
      status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]),
      headers,
      body: rest.subarray(start, start + length).toString(),
    });
    rest = rest.subarray(start + length);
  }
  return answers;
}

/** Holds an error to the envelope, and to the headers that every answer under `/v1` has (contract §2.3, §2.8). */
export function expectEnvelope(answer: RawAnswer | undefined, status: number): void {
  expect(answer?.status).toBe(status);
  const { headers, body } = answer as RawAnswer;
  expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(headers.get("ratelimit-limit")).toBe("10");
  expect(headers.get("ratelimit-policy")).toBe("10;w=1");
  expect(headers.get("x-request-id")).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  for (const name of ["retry-after", "ratelimit-remaining", "ratelimit-reset"])
    expect(headers.has(name), name).toBe(status === 429 && name === "retry-after");
  expect(JSON.parse(body)).toMatchObject({ error: { code: String(status), message: expect.stringMatching(/\S/) } });
}
