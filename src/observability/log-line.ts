// Log line of a finished request: the fields of its record that the log shows.
import type { Spent, Tally } from "../tally.ts";
import { spentOn } from "../tally.ts";
import type { RequestRecord } from "./record.ts";

/** The fields of a request's line; those that are undefined are left out. Times are in milliseconds, to the tenth. */
export function logLine(record: RequestRecord, traceId: string | undefined): object {
  const {
    id,
    listener,
    wire,
    method,
    route,
    rpc,
    mcpMethods,
    tools,
    account,
    keyPrefix: key,
    serviceToken,
    address,
    status,
    code,
    cause,
    waitingFor,
    ms,
    tally,
  } = record;
  return {
    id,
    listener,
    wire,
    method,
    route,
    rpc,
    mcp_method: mcpMethods,
    tools,
    account,
    key,
    service_token: serviceToken,
    address,
    status,
    code,
    cause,
    waiting_for: waitingFor,
    ms: tenth(ms),
    ...(tally === undefined
      ? {}
      : {
          queue_ms: spent(tally, "queueMs"),
          redis_ms: spent(tally, "redisMs"),
          provider_ms: spent(tally, "providerMs"),
          db_ms: spent(tally, "dbMs"),
          db_commands: tally.dbCommands || undefined,
          rows: tally.rows,
        }),
    trace_id: traceId,
  };
}

/** Undefined where nothing was spent, so that short requests have short lines. */
function spent(tally: Tally, kind: Spent): number | undefined {
  const ms = spentOn(tally, kind);
  return ms === 0 ? undefined : tenth(ms);
}

function tenth(ms: number): number {
  return Math.round(ms * 10) / 10;
}
