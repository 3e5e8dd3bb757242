// CPU and memory profiles of this process for operators, from V8's own profilers.
import { Session } from "node:inspector/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { writeFailure } from "../http/response.ts";
import { fail, failureOf, rejectInput } from "../call/errors.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { InternalAccess } from "../guards/internal.ts";
import type { Response, Surface } from "../call/exchange.ts";
import type { OnError } from "../call/dispatch.ts";

/** Records a profile until `wait` resolves, and returns it. */
type Profiler = (session: Session, wait: () => Promise<void>) => Promise<object>;

const cpu: Profiler = async (session, wait) => {
  await session.post("Profiler.enable");
  await session.post("Profiler.start");
  await wait();
  return (await session.post("Profiler.stop")).profile;
};

/** Samples allocations, which contain functions and sizes. A heap snapshot would contain the texts of records. */
const heap: Profiler = async (session, wait) => {
  await session.post("HeapProfiler.enable");
  await session.post("HeapProfiler.startSampling");
  await wait();
  return (await session.post("HeapProfiler.stopSampling")).profile;
};

const profilers: Readonly<Record<string, { readonly profiler: Profiler; readonly extension: string }>> = {
  "/profiles/cpu": { profiler: cpu, extension: "cpuprofile" },
  "/profiles/heap": { profiler: heap, extension: "heapprofile" },
};

const seconds = { default: 10, max: 60 };

/**
 * Serves `GET /profiles/cpu` and `/profiles/heap` to callers with a service token. Rejects a request with
 * ALREADY_EXISTS while another one is under way.
 */
export function createProfiles(access: Pick<InternalAccess, "requireToken">, onError: OnError): Surface {
  let isTaking = false;

  async function send(path: string, url: string, response: Response): Promise<void> {
    const { profiler, extension } = profilers[path] ?? fail(Reason.UNKNOWN_PATH);
    const wanted = secondsOf(url);
    if (isTaking)
      fail(Reason.ALREADY_EXISTS, { message: "This instance is already taking a profile. Try again when it is done." });
    isTaking = true;
    const session = new Session();
    const left = new AbortController();
    response.once("close", () => left.abort());
    try {
      session.connect();
      // Sends the headers first, so that the client knows that the profile has started.
      response.writeHead(200, {
        "Content-Type": "application/json; charset=utf-8",
        "Cache-Control": "no-store",
        "Content-Disposition": `attachment; filename="records.${extension}"`,
      });
      response.flushHeaders();
      const wait = (): Promise<void> =>
        sleep(wanted * 1_000, undefined, { signal: left.signal }).catch(() => undefined);
      response.end(JSON.stringify(await profiler(session, wait)));
    } finally {
      session.disconnect();
      isTaking = false;
    }
  }

  return {
    serves: (path) => Object.hasOwn(profilers, path),
    async handle(path, request, response, inbound) {
      request.resume();
      try {
        access.requireToken(inbound);
        if (request.method !== "GET") fail(Reason.METHOD_NOT_ALLOWED, { allow: "GET" });
        await send(path, request.url ?? "", response);
      } catch (error) {
        const failure = failureOf(error);
        onError(failure, inbound);
        if (response.headersSent) response.destroy();
        else writeFailure(response, failure);
      }
    },
  };
}

function secondsOf(url: string): number {
  const given = new URL(url, "http://localhost").searchParams.get("seconds") ?? String(seconds.default);
  const number = /^[1-9]\d?$/.test(given) ? Number(given) : 0;
  if (number < 1 || number > seconds.max)
    rejectInput([{ field: "seconds", rule: "range", message: `must be a whole number from 1 to ${seconds.max}` }]);
  return number;
}
