// Measures lines side by side: in every round each subject once, in an order that changes, so that a slow minute hits
// all.
import type { Line, Subject } from "./lines.ts";
import type { Load, Loaded } from "./load/load.ts";
import type { PeerName } from "./peers/peers.ts";
import type { LoadClient, PeerCommand, RunningPeer } from "./processes.ts";
import { cpuSeconds, residentMegabytes, startPeer } from "./processes.ts";
import type { Results, Row, Sample } from "./results.ts";
import { median } from "./results.ts";

/** How long it is measured. */
export interface Effort {
  readonly rounds: number;
  /** Of each load. */
  readonly seconds: number;
}

/** So many requests it takes until what they run is compiled; on a busy machine fewer have to do. */
const warmRequests = 6_000;
const mostWarmUps = 3;

/** What a load took of processes, in microseconds of processor time for each request. */
export async function measureLoad<Group extends string>(
  client: LoadClient,
  load: Load,
  pids: Readonly<Record<Group, readonly number[]>>,
): Promise<{ readonly loaded: Loaded; readonly cpuUs: Record<Group, number> }> {
  const groups = Object.keys(pids) as Group[];
  const cpu = (): number[] => groups.map((group) => pids[group].reduce((sum, pid) => sum + cpuSeconds(pid), 0));
  const before = cpu();
  const loaded = await client.run(load);
  const used = cpu().map((seconds, at) => [groups[at], ((seconds - (before[at] ?? 0)) / loaded.requests) * 1e6]);
  return { loaded, cpuUs: Object.fromEntries(used) as Record<Group, number> };
}

/** Measures a line; the rows are in the order of its subjects. */
export async function measureLine(
  line: Line,
  peers: ReadonlyMap<PeerName, RunningPeer>,
  client: LoadClient,
  { rounds, seconds }: Effort,
  say: (text: string) => void,
): Promise<Row[]> {
  const measured = line.subjects.map((subject) => ({
    subject,
    serving: subject.peers.map((name) => peers.get(name) as RunningPeer),
    row: emptyRow(line, subject),
  }));
  const load = async ({
    subject,
    serving,
    row,
  }: (typeof measured)[number]): Promise<Sample & { readonly requests: number }> => {
    const asked = {
      ports: serving.map(({ port }) => port),
      connections: line.connections,
      seconds,
      requests: subject.requests,
    };
    const { loaded, cpuUs } = await measureLoad(client, asked, { service: serving.map(({ pid }) => pid) });
    row.failed += loaded.failed;
    if (loaded.failed > 0)
      say(`${line.name}, ${subject.name}: ${loaded.failed} failed, the first with ${loaded.failure}`);
    return {
      requests: loaded.requests,
      rate: loaded.requests / loaded.seconds,
      p50Ms: loaded.p50Ms,
      p99Ms: loaded.p99Ms,
      cpuUs: cpuUs.service,
    };
  };
  for (const one of measured) await warmUp(async () => (await load(one)).requests);
  for (let round = 0; round < rounds; round++) {
    for (const at of measured.keys()) {
      const one = measured[(at + round) % measured.length] as (typeof measured)[number];
      one.row.samples[round] = await load(one);
    }
  }
  for (const { serving, row } of measured)
    row.memoryMb = serving.reduce((sum, { pid }) => sum + residentMegabytes(pid), 0);
  for (const { row } of measured) say(`${line.name.padEnd(10)} ${row.subject.padEnd(12)} ${brief(row)}`);
  return measured.map(({ row }) => row);
}

/** Loads until everything is compiled; the load resolves with its requests. */
export async function warmUp(load: () => Promise<number>): Promise<void> {
  for (let warm = 0, times = 0; warm < warmRequests && times < mostWarmUps; times++) warm += await load();
}

/** Starts and stops everyone in turn, as often as there are rounds: milliseconds to the first answer. */
export async function measureStarts(
  commands: readonly [PeerName, PeerCommand, firstRequest: string][],
  rounds: number,
  say: (text: string) => void,
): Promise<Results["starts"]> {
  const starts: Results["starts"] = new Map();
  for (let round = 0; round < rounds; round++) {
    for (const at of commands.keys()) {
      const [name, command, first] = commands[(at + round) % commands.length] as (typeof commands)[number];
      const peer = await startPeer(command, first);
      starts.set(name, [...(starts.get(name) ?? []), peer.startMs]);
      await peer.stop();
    }
  }
  for (const [name, all] of starts) say(`start      ${name.padEnd(12)} ${median(all).toFixed(0)} ms`);
  return starts;
}

function emptyRow({ name, title }: Line, subject: Subject): Row {
  return {
    line: name,
    lineTitle: title,
    subject: subject.name,
    title: subject.title,
    samples: [],
    failed: 0,
    memoryMb: 0,
  };
}

function brief({ samples, memoryMb }: Row): string {
  const of = (figure: keyof Sample): number => median(samples.map((sample) => sample[figure]));
  return `${of("rate").toFixed(0).padStart(6)}/s  p50 ${of("p50Ms").toFixed(2)} ms  p99 ${of("p99Ms").toFixed(1)} ms  CPU ${of("cpuUs").toFixed(0)} µs  ${memoryMb.toFixed(0)} MB`;
}
