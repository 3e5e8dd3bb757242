// Measures pairs. Only the two subjects run, and each round loads both in turn, so that a slow minute affects both.
import type { Load, LoadRequest, Loaded } from "./load/load.ts";
import type { PeerName } from "./peers/peers.ts";
import type { LoadClient, PeerCommand, RunningPeer } from "./processes.ts";
import { cpuSeconds, residentMegabytes, startPeer } from "./processes.ts";
import type { Results, Run, Sample, Side, Sides } from "./results.ts";
import { isAgreed, median, ratios, tolerance } from "./results.ts";

/** How long to measure. */
export interface Effort {
  /** Runs of a pair; more if two of them differ. */
  readonly runs: number;
  readonly rounds: number;
  readonly seconds: number;
  /** The maximum warm-up of a side before the first round. */
  readonly warmSeconds: number;
}

/** The database processes, whose CPU time counts in addition to the service's. */
export interface DatabasePids {
  readonly mongod: readonly number[];
  readonly redis: readonly number[];
}

/** The requests of one side of a pair, and the peer that serves them. */
export interface LoadedSide {
  readonly peer: RunningPeer;
  readonly requests: readonly LoadRequest[];
}

export interface PairLoad {
  readonly sides: Sides<LoadedSide>;
  readonly databases: DatabasePids;
  readonly client: LoadClient;
  readonly connections: number;
  readonly effort: Effort;
  /** Gets a line about the first failure of each load. */
  readonly say: (line: string) => void;
}

/** Warm-up requests, after which V8 has compiled the code. */
const warmRequests = 12_000;
const maxRuns = 4;

/** Runs a pair as often as wanted. If the last two runs differ, says so and measures again, up to four times. */
export async function measureRuns(
  run: () => Promise<Run>,
  { runs: wanted }: Pick<Effort, "runs">,
  say: (line: string) => void,
): Promise<Run[]> {
  const runs = [await run()];
  while (runs.length < wanted || (runs.length < maxRuns && !isAgreed({ runs }))) {
    if (runs.length >= wanted) say(`${difference(runs)}: measuring again`);
    runs.push(await run());
  }
  if (!isAgreed({ runs })) say(`${difference(runs)}: all of them count`);
  return runs;
}

function difference(runs: readonly Run[]): string {
  const ratioOf = ({ rounds }: Run): string => median(ratios(rounds, "serviceUs")).toFixed(2);
  const totalOf = ({ rounds }: Run): string => median(ratios(rounds, "totalUs")).toFixed(2);
  const percent = Math.round((tolerance - 1) * 100);
  return `Two runs differ by more than ${percent} %: CPU time, own / other, ${runs.map(ratioOf).join(", ")}; with the databases ${runs.map(totalOf).join(", ")}`;
}

/** Runs two started sides. */
export async function measureRun(pair: PairLoad): Promise<Run> {
  const failed: Record<Side, number> = { own: 0, other: 0 };
  const load = async (side: Side): Promise<{ readonly sample: Sample; readonly requests: number }> => {
    const { loaded, sample } = await measureLoad(pair, side);
    failed[side] += loaded.failed;
    if (loaded.failed > 0) pair.say(`${side}: ${loaded.failed} failed, the first with ${loaded.failure}`);
    return { sample, requests: loaded.requests };
  };
  for (const side of ["other", "own"] as const)
    for (let warm = 0, spent = 0; warm < warmRequests && spent < pair.effort.warmSeconds; spent += pair.effort.seconds)
      warm += (await load(side)).requests;
  const rounds: Sides<Sample>[] = [];
  for (let round = 0; round < pair.effort.rounds; round++) {
    // Alternates the order for fairness.
    const early = round % 2 === 0 ? (await load("own")).sample : undefined;
    const other = (await load("other")).sample;
    rounds.push({ own: early ?? (await load("own")).sample, other });
  }
  const memoryOf = (side: Side): number => residentMegabytes(pair.sides[side].peer.pid);
  return { rounds, failed, memoryMb: { own: memoryOf("own"), other: memoryOf("other") } };
}

async function measureLoad(
  { sides, databases, client, connections, effort: { seconds } }: PairLoad,
  side: Side,
): Promise<{ readonly loaded: Loaded; readonly sample: Sample }> {
  const { peer, requests } = sides[side];
  const load: Load = { port: peer.port, connections, seconds, requests };
  const cpu = (): number[] =>
    [[peer.pid], databases.mongod, databases.redis].map((pids) => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0));
  const before = cpu();
  const loaded = await client.run(load);
  const [serviceUs = NaN, mongodUs = NaN, redisUs = NaN] = cpu().map(
    (used, at) => ((used - (before[at] ?? 0)) / loaded.requests) * 1e6,
  );
  const { p50Ms, p99Ms } = loaded;
  return {
    loaded,
    sample: { rate: loaded.requests / loaded.seconds, p50Ms, p99Ms, serviceUs, mongodUs, redisUs },
  };
}

/** Starts and stops every peer in each round, and measures the milliseconds to the first response. */
export async function measureStarts(
  commands: readonly [PeerName, PeerCommand, firstRequest: string][],
  rounds: number,
  say: (text: string) => void,
): Promise<Results["starts"]> {
  const starts: Results["starts"] = {};
  for (let round = 0; round < rounds; round++) {
    for (const at of commands.keys()) {
      const [name, command, first] = commands[(at + round) % commands.length] as (typeof commands)[number];
      const peer = await startPeer(command, first);
      starts[name] = [...(starts[name] ?? []), peer.startMs];
      await peer.stop();
    }
  }
  for (const [name, all] of Object.entries(starts)) say(`start      ${name.padEnd(12)} ${median(all).toFixed(0)} ms`);
  return starts;
}

/** The resident memory in MB of a fresh peer after at least `count` requests. */
export async function measureMemory(
  peer: RunningPeer,
  client: LoadClient,
  load: readonly LoadRequest[],
  count: number,
): Promise<number> {
  for (let done = 0; done < count; ) {
    const { requests, failed, failure } = await client.run({
      port: peer.port,
      connections: 16,
      seconds: 1,
      requests: load,
    });
    if (failed > 0) throw new Error(`${failed} requests failed, the first with ${failure}`);
    done += requests;
  }
  return residentMegabytes(peer.pid);
}
