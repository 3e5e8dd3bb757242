// Child process: another account with a valid key and a health monitor, each with its own addresses.
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "node:http";

/** The service, and the account for the requests. */
export interface Errand {
  readonly base: string;
  readonly key: string;
  /** The path of a contact in the key's account. */
  readonly path: string;
}

export interface Watch {
  readonly errand: Errand;
  readonly seconds: number;
}

export interface Seen {
  /** Statuses of the requests with the key; 0 means no response. */
  readonly statuses: readonly number[];
  /** The time of each health request in milliseconds, and the statuses other than 200. */
  readonly healthMs: readonly number[];
  readonly unhealthy: readonly number[];
}

/** Just below the rate of one bucket. */
const perSecond = 9;
/** The number of addresses of the monitor, so that each stays below the rate of its bucket. */
const monitors = 4;
const probesPerSecond = 20;
const patienceMs = 6_000;
const agent = new Agent({ keepAlive: true });

process.on("message", ({ errand, seconds }: Watch) => {
  void watch(errand, seconds).then((seen) => process.send?.(seen));
});
// The parent process has ended.
process.once("disconnect", () => process.exit());

/** Sends the requests of the account and the probes of health. */
async function watch({ base, key, path }: Errand, seconds: number): Promise<Seen> {
  const by = { authorization: `Bearer ${key}`, "x-forwarded-for": "198.51.100.7" };
  const [responses, probed] = await Promise.all([
    steadily(perSecond, seconds, () => send(base + path, by)),
    steadily(probesPerSecond, seconds, (at) =>
      send(`${base}/v1/health`, { "x-forwarded-for": `192.0.2.${at % monitors}` }),
    ),
  ]);
  return {
    statuses: responses.map(({ status }) => status),
    healthMs: probed.map(({ ms }) => ms),
    unhealthy: probed.map(({ status }) => status).filter((status) => status !== 200),
  };
}

/**
 * Sends requests at a constant rate without waiting for responses. Never catches up after a pause, which would exceed
 * the account's limit.
 */
async function steadily<T>(rate: number, seconds: number, once: (at: number) => Promise<T>): Promise<T[]> {
  const sent: Promise<T>[] = [];
  for (let at = 0; at < rate * seconds; at++) {
    const earliest = performance.now() + 1_000 / rate;
    sent.push(once(at));
    await sleep(earliest - performance.now());
  }
  return Promise.all(sent);
}

function send(
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
