// Child process of `probes.ts`: sends requests repeatedly over persistent connections.
import { Agent, get } from "node:http";

/** What to request and where. */
export interface Errand {
  readonly base: string;
  readonly key: string;
  readonly paths: readonly string[];
}

const agent = new Agent({ keepAlive: true });
const everyMs = 20;
/** Longer than any request may take. */
const patienceMs = 10_000;
let times: number[] = [];
let failures: string[] = [];

process.once("message", (errand: Errand) => {
  for (const path of errand.paths) sendRepeatedly(errand, path);
  process.on("message", () => {
    process.send?.({ times, failures });
    times = [];
    failures = [];
  });
});

function sendRepeatedly({ base, key, paths }: Errand, path: string): void {
  const begun = performance.now();
  const done = (failure?: string): void => {
    times.push(performance.now() - begun);
    if (failure !== undefined) failures.push(`${path}: ${failure}`);
    setTimeout(() => sendRepeatedly({ base, key, paths }, path), everyMs);
  };
  const request = get(
    base + path,
    { agent, timeout: patienceMs, headers: { authorization: `Bearer ${key}` } },
    (response) => {
      response.resume();
      response.once("end", () => done(response.statusCode === 200 ? undefined : String(response.statusCode)));
      response.once("error", (error) => done(error.message));
    },
  );
  request.once("timeout", () => request.destroy(new Error(`no response in ${patienceMs} ms`)));
  request.once("error", (error) => done(error.message));
}
