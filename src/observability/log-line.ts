// Log line of a finished request, made from its record.
import type { Spent, Tally } from "../call/tally.ts";
import { spentOn } from "../call/tally.ts";
import type { RequestRecord } from "./record.ts";

/**
 * Returns the fields of a request's log line. The logger leaves out undefined ones. Times are in milliseconds, rounded
 * to tenths.
 */
export function logLine(record: RequestRecord, traceId: string | undefined): object {
  const { tally } = record;
  return {
    id: record.id,
    listener: record.listener,
    wire: record.wire,
    method: record.method,
    route: record.route,
    rpc: record.rpc,
    mcp_method: record.mcpMethods,
    tools: record.tools,
    account: record.account,
    key: record.keyPrefix,
    service_token: record.serviceToken,
    address: record.address,
    status: record.status,
    code: record.code,
    cause: record.cause,
    waiting_for: record.waitingFor,
    ms: tenth(record.ms),
    ...(tally && {
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

/** Returns undefined instead of 0, so that short requests have short lines. */
function spent(tally: Tally, kind: Spent): number | undefined {
  const ms = spentOn(tally, kind);
  return ms === 0 ? undefined : tenth(ms);
}

function tenth(ms: number): number {
  return Math.round(ms * 10) / 10;
}
