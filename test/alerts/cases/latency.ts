// The alerts on latency.
import type { Case } from "../case.ts";
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
    fires: [
      {
        title: "p99 of 1.25 s",
        series: took(reads, "200", 600, slowRead),
        pendingAt: 5,
        firesAt: 12,
        labels: { job, route: reads.route },
      },
      {
        title: "a read over gRPC",
        series: took(rpcReads, "200", 600, slowRead),
        pendingAt: 5,
        firesAt: 12,
        labels: { job, route: rpcReads.route },
      },
      {
        title: "eight requests a minute",
        series: { ...took(reads, "200", 4.2, slowRead), ...took(writes, "201", 0, { "1": 1 }) },
        pendingAt: 5,
        firesAt: 16,
        labels: { job, route: reads.route },
      },
    ],
    silent: [
      { title: "p99 of 0.75 s", series: took(reads, "200", 600, quickRead), at: 30 },
      {
        title: "five requests a minute",
        series: { ...took(reads, "200", 2.4, slowRead), ...took(writes, "201", 0.3, { "1": 1 }) },
        at: 30,
      },
      {
        title: "rejected at their deadline, which counts as a failure",
        series: { ...took(reads, "503", 60_000, slowRead), ...took(rpcReads, "503", 60_000, slowRead) },
        at: 30,
      },
      { title: "slow writes", series: took({ ...writes, route: "/v1/api-key" }, "200", 600, slowWrite), at: 30 },
      {
        title: "internal reads, and streams of assistants",
        series: {
          ...took({ ...reads, listener: "internal", route: "/export" }, "200", 600, slowRead),
          ...took({ ...reads, wire: "mcp", route: "/mcp" }, "200", 600, slowRead),
        },
        at: 30,
      },
    ],
  },
  {
    alert: "RecordsWritesSlow",
    fires: [
      {
        title: "p99 of 2.9 s",
        series: took(writes, "201", 600, slowWrite),
        pendingAt: 5,
        firesAt: 12,
        labels: { job, route: writes.route },
      },
      {
        title: "eight requests a minute",
        series: { ...took(writes, "201", 4.2, slowWrite), ...took(reads, "200", 0, { "1": 1 }) },
        pendingAt: 5,
        firesAt: 16,
        labels: { job, route: writes.route },
      },
    ],
    silent: [
      { title: "p99 of 1.5 s", series: took(writes, "201", 600, quickWrite), at: 30 },
      {
        title: "five requests a minute",
        series: { ...took(writes, "201", 2.4, slowWrite), ...took(reads, "200", 0, { "1": 1 }) },
        at: 30,
      },
      {
        title: "rejected at their deadline, which counts as a failure",
        series: took(writes, "503", 60_000, slowWrite),
        at: 30,
      },
      {
        title: "slow reads over REST and gRPC",
        series: { ...took(reads, "200", 600, slowWrite), ...took(rpcReads, "200", 600, slowWrite) },
        at: 30,
      },
      {
        title: "internal writes, and calls of assistants",
        series: {
          ...took({ ...writes, listener: "internal", route: "/import" }, "200", 600, slowWrite),
          ...took({ ...writes, wire: "mcp", route: "/mcp" }, "200", 600, slowWrite),
        },
        at: 30,
      },
    ],
  },
];
