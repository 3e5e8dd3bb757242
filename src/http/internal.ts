// What the internal listener serves besides rpcs: liveness, readiness, metrics.
import type { Response } from "./listener.ts";

/** What the probes report. */
export interface Probes {
  /** Whether start-up is done, this instance is not stopping, and MongoDB can be reached. */
  ready(): boolean;
  /** The parts and whether they can be reached, for the body of `/readyz`. */
  parts(): Readonly<Record<string, boolean>>;
  /** The metrics in Prometheus's text form. */
  metrics(): Promise<{ readonly type: string; readonly text: string }>;
}

/** Answers `/livez`, `/readyz` and `/metrics`; false for any other path. */
export async function serveProbe(path: string, response: Response, probes: Probes): Promise<boolean> {
  if (path === "/livez") return reply(response, 200, "application/json; charset=utf-8", JSON.stringify({ status: "ok" }));
  if (path === "/readyz") {
    const ready = probes.ready();
    return reply(response, ready ? 200 : 503, "application/json; charset=utf-8", JSON.stringify({ status: ready ? "ok" : "unavailable", ...probes.parts() }));
  }
  if (path !== "/metrics") return false;
  const { type, text } = await probes.metrics();
  return reply(response, 200, type, text);
}

function reply(response: Response, status: number, type: string, body: string): true {
  response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store" }).end(body);
  return true;
}
