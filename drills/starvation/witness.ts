// Another account with a valid key, and a monitor that asks for health, each at addresses of its own, in one process.
import { Agent, request } from "node:http";

/** Whom to ask, and as whom. */
export interface Errand {
  readonly base: string;
  readonly key: string;
  /** Of a contact of the key's account. */
  readonly path: string;
}

/** What the witness is told. */
export interface Watch {
  readonly errand: Errand;
  readonly seconds: number;
}

/** What was seen in the time that the witness was asked about. */
export interface Seen {
  /** Statuses of the requests with the key, 0 for one that was not answered. */
  readonly statuses: readonly number[];
  /** How long each answer to a request for health took, in milliseconds, and what was not 200. */
  readonly healthMs: readonly number[];
  readonly unhealthy: readonly number[];
}

/** Just below what one bucket lets through. */
const perSecond = 9;
/** A monitor of several machines: no address asks more often than its bucket lets it. */
const monitors = 4;
const probesPerSecond = 20;
const patienceMs = 6_000;
const agent = new Agent({ keepAlive: true });

process.on("message", ({ errand, seconds }: Watch) => {
  void watch(errand, seconds).then((seen) => process.send?.(seen));
});
// Who started it is gone.
process.once("disconnect", () => process.exit());

/** Asks at a constant rate, whatever becomes of the requests before. */
async function watch({ base, key, path }: Errand, seconds: number): Promise<Seen> {
  const by = { authorization: `Bearer ${key}`, "x-forwarded-for": "198.51.100.7" };
  const [asked, probed] = await Promise.all([
    steadily(perSecond, seconds, () => ask(base + path, by)),
    steadily(probesPerSecond, seconds, (at) =>
      ask(`${base}/v1/health`, { "x-forwarded-for": `192.0.2.${at % monitors}` }),
    ),
  ]);
  return {
    statuses: asked.map(({ status }) => status),
    healthMs: probed.map(({ ms }) => ms),
    unhealthy: probed.map(({ status }) => status).filter((status) => status !== 200),
  };
}

function steadily<T>(rate: number, seconds: number, once: (at: number) => Promise<T>): Promise<T[]> {
  const begun = performance.now();
  return Promise.all(
    Array.from({ length: rate * seconds }, async (_, at) => {
      await new Promise((due) => setTimeout(due, begun + (at * 1_000) / rate - performance.now()));
      return once(at);
    }),
  );
}

function ask(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly ms: number }> {
  const begun = performance.now();
  return new Promise((resolve) => {
    const done = (status: number): void => resolve({ status, ms: performance.now() - begun });
    const sent = request(url, { agent, timeout: patienceMs, headers }, (response) => {
      response.resume();
      response.once("close", () => done(response.statusCode ?? 0));
    });
    sent.once("timeout", () => sent.destroy());
    sent.once("error", () => done(0));
    sent.end();
  });
}
