// Log line of a finished request, made from its record.
import { spentBy } from "../call/tally.ts";
import type { RequestRecord } from "./record.ts";

/**
 * Returns the fields of a request's log line. The logger leaves out undefined ones. Times are in milliseconds, rounded
 * to tenths.
 */
export function logLine(record: RequestRecord, traceId: string | undefined): object {
  const { tally } = record;
  const spent = tally && spentBy(tally);
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
    ...(spent && {
      queue_ms: tenth(spent.queueMs),
      redis_ms: tenth(spent.redisMs),
      provider_ms: tenth(spent.providerMs),
      db_ms: tenth(spent.dbMs),
      db_commands: tally?.dbCommands || undefined,
      rows: tally?.rows,
    }),
    trace_id: traceId,
  };
}

/** Returns undefined instead of 0, so that short requests have short lines. */
function tenth(ms: number): number | undefined {
  return ms === 0 ? undefined : Math.round(ms * 10) / 10;
}
