// The alerts on latency.
import type { Case } from "../case.ts";
import { firing, silent } from "../case.ts";
import { reads, rpcReads, took, writes } from "../series.ts";

const job = "records";
/** p99 of 1.25 s, of 0.75 s, of 2.9 s and of 1.5 s. */
const [slowRead, quickRead, slowWrite, quickWrite] = [
  { "1": 0.988, "2.5": 1 },
  { "0.5": 0.98, "1": 1 },
  { "1": 0.98, "2.5": 0.988, "5": 1 },
  { "1": 0.985, "2.5": 1 },
];

export const latencyCases: readonly Case[] = [
  {
    alert: "RecordsReadsSlow",
    fires: {
      "p99 of 1.25 s": firing(5, 12, took(reads, "200", 600, slowRead), { job, route: reads.route }),
      "a read over gRPC": firing(5, 12, took(rpcReads, "200", 600, slowRead), { job, route: rpcReads.route }),
      "eight requests a minute": firing(
        5,
        16,
        { ...took(reads, "200", 4.2, slowRead), ...took(writes, "201", 0, { "1": 1 }) },
        { job, route: reads.route },
      ),
    },
    silent: {
      "p99 of 0.75 s": silent(30, took(reads, "200", 600, quickRead)),
      "five requests a minute": silent(30, {
        ...took(reads, "200", 2.4, slowRead),
        ...took(writes, "201", 0.3, { "1": 1 }),
      }),
      "rejected at their deadline, which counts as a failure": silent(30, {
        ...took(reads, "503", 60_000, slowRead),
        ...took(rpcReads, "503", 60_000, slowRead),
      }),
      "slow writes": silent(30, took({ ...writes, route: "/v1/api-key" }, "200", 600, slowWrite)),
      "internal reads, and streams of assistants": silent(30, {
        ...took({ ...reads, listener: "internal", route: "/export" }, "200", 600, slowRead),
        ...took({ ...reads, wire: "mcp", route: "/mcp" }, "200", 600, slowRead),
      }),
    },
  },
  {
    alert: "RecordsWritesSlow",
    fires: {
      "p99 of 2.9 s": firing(5, 12, took(writes, "201", 600, slowWrite), { job, route: writes.route }),
      "eight requests a minute": firing(
        5,
        16,
        { ...took(writes, "201", 4.2, slowWrite), ...took(reads, "200", 0, { "1": 1 }) },
        { job, route: writes.route },
      ),
    },
    silent: {
      "p99 of 1.5 s": silent(30, took(writes, "201", 600, quickWrite)),
      "five requests a minute": silent(30, {
        ...took(writes, "201", 2.4, slowWrite),
        ...took(reads, "200", 0, { "1": 1 }),
      }),
      "rejected at their deadline, which counts as a failure": silent(30, took(writes, "503", 60_000, slowWrite)),
      "slow reads over REST and gRPC": silent(30, {
        ...took(reads, "200", 600, slowWrite),
        ...took(rpcReads, "200", 600, slowWrite),
      }),
      "internal writes, and calls of assistants": silent(30, {
        ...took({ ...writes, listener: "internal", route: "/import" }, "200", 600, slowWrite),
        ...took({ ...writes, wire: "mcp", route: "/mcp" }, "200", 600, slowWrite),
      }),
    },
  },
];
