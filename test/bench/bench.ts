// Runs the bench: starts the fixture, and for each pair starts both subjects, checks that they return the same
// responses, and measures them.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { callsText, countCalls, counting } from "./calls.ts";
import { differences } from "./check.ts";
import type { DataPlan } from "./dataset/accounts.ts";
import { fullData, mainAccount, smallData } from "./dataset/accounts.ts";
import { addContacts, clearWritten } from "./dataset/written.ts";
import type { BenchAccount, Fixture } from "./fixture.ts";
import { startFixture } from "./fixture.ts";
import type { Line, Subject } from "./lines.ts";
import { linesOf } from "./lines.ts";
import type { WireRequest } from "./load/load.ts";
import type { Effort } from "./measure.ts";
import { measureMemory, measureRun, measureRuns, measureStarts } from "./measure.ts";
import type { PeerName } from "./peers/peers.ts";
import { peerCommands, peerTitles } from "./peers/peers.ts";
import type { LoadClient, PeerCommand, RunningPeer } from "./processes.ts";
import { pinToOtherCore, pinned, startLoadClient, startPeer } from "./processes.ts";
import { profileText, profiling, readProfile } from "./profile.ts";
import type { Pair, Results, Run } from "./results.ts";
import { ratios, roundsOf, spread } from "./results.ts";
import { measureSearches } from "./search.ts";

/** What to measure, and with which data. */
export interface BenchOptions {
  readonly dataDir: string;
  readonly small: boolean;
  /** Names of lines, "start", "memory" or "search"; undefined for all. */
  readonly only: readonly string[] | undefined;
  readonly effort: Effort;
  readonly say: (line: string) => void;
  /** The Node that runs the service and the peers. */
  readonly node: string;
}

/** The results. `notes` describe the measurement. */
export interface Benched {
  readonly results: Results;
  readonly notes: readonly string[];
}

interface Setup {
  readonly options: BenchOptions;
  readonly fixture: Fixture;
  readonly lines: readonly Line[];
  readonly commands: ReadonlyMap<PeerName, PeerCommand>;
  readonly client: LoadClient;
  /** Peers that run until the end; only on the small set. */
  readonly kept: Map<PeerName, Promise<RunningPeer>>;
}

const writerAccount = "writes";
/** The number of requests after which memory is compared. */
const memoryRequests = { full: 100_000, small: 200 } as const;

/** Runs the bench. Fails if a peer's response differs from the service's. Leaves no process behind. */
export async function bench(options: BenchOptions): Promise<Benched> {
  const { small, only, effort, say, node } = options;
  const plan = small ? smallData : fullData;
  const wanted = (name: string): boolean => only === undefined || only.includes(name);
  return withFixture(options, async (fixture, scratch, cleanups) => {
    const { accounts, lines, commands, clear } = await prepare(fixture, plan, { scratch, node });
    cleanups.push(clear);
    const client = startLoadClient();
    cleanups.push(() => client.stop());
    const kept: Setup["kept"] = new Map();
    cleanups.push(() => stopAll([...kept.values()]));
    const setup: Setup = { options, fixture, lines, commands, client, kept };

    const results: Results = { node: versionOf(node), pairs: [], starts: {}, searches: [], memory: undefined };
    if (wanted("start")) Object.assign(results.starts, await startsOf(setup));
    for (const line of lines.filter(({ name }) => wanted(name))) {
      const [own, ...others] = line.subjects;
      for (const other of others) if (own !== undefined) results.pairs.push(await measurePair(setup, line, own, other));
    }
    if (wanted("memory")) results.memory = await memoryOf(setup, memoryRequests[plan.name]);
    if (wanted("search"))
      await withPeers(setup, ["ours"], async ([service]) => {
        const { port } = service as RunningPeer;
        results.searches.push(...(await measureSearches(fixture, plan, accounts.reader, port, client, effort, say)));
      });
    return { results, notes: notesOn(plan, effort, results.node) };
  });
}

/** Starts both subjects for each run and stops them afterwards, so that no other subject runs meanwhile. */
async function measurePair(setup: Setup, line: Line, own: Subject, other: Subject): Promise<Pair> {
  const { options, fixture, client } = setup;
  const title = `${line.name.padEnd(10)} ${own.name} against ${other.name}`;
  const say = (text: string): void => options.say(`${title}: ${text}`);
  const names = [...new Set([own.peer, other.peer])];
  const run = (): Promise<Run> =>
    withPeers(setup, names, async (running) => {
      const peerOf = (name: PeerName): RunningPeer => running[names.indexOf(name)] as RunningPeer;
      const found = await differences({ ...line, subjects: [own, other] }, (name) => peerOf(name).port);
      if (found.length > 0) throw new Error(`The responses differ:\n${found.slice(0, 5).join("\n")}`);
      const sideOf = ({ peer, requests }: Subject) => ({ peer: peerOf(peer), requests });
      const { databases } = fixture;
      const { effort } = options;
      const { connections } = line;
      return measureRun({
        sides: { own: sideOf(own), other: sideOf(other) },
        databases,
        client,
        connections,
        effort,
        say,
      });
    });
  const named = ({ name, title }: Subject) => ({ name, title });
  const runs = await measureRuns(run, options.effort, say);
  const pair: Pair = { line: line.name, lineTitle: line.title, own: named(own), other: named(other), runs };
  const cost = (figure: "serviceUs" | "totalUs"): string => spread(ratios(roundsOf(pair), figure), 2);
  say(`CPU ratio ${cost("serviceUs")}, with the databases ${cost("totalUs")}`);
  return pair;
}

/**
 * Starts these peers, runs the work and stops them. On the small set, whose figures do not matter, they keep running to
 * save time.
 */
async function withPeers<T>(
  { options: { small }, lines, commands, kept }: Setup,
  names: readonly PeerName[],
  work: (running: readonly RunningPeer[]) => Promise<T>,
): Promise<T> {
  const start = (name: PeerName): Promise<RunningPeer> =>
    startPeer(commands.get(name) as PeerCommand, firstRequestOf(lines));
  const starting = names.map((name) => kept.get(name) ?? start(name));
  if (small) for (const [at, name] of names.entries()) kept.set(name, starting[at] as Promise<RunningPeer>);
  try {
    await Promise.allSettled(starting);
    return await work(await Promise.all(starting));
  } finally {
    if (!small) await stopAll(starting);
  }
}

/** Stops the peers that have started. */
async function stopAll(starting: readonly Promise<RunningPeer>[]): Promise<void> {
  for (const one of await Promise.allSettled(starting)) if (one.status === "fulfilled") await one.value.stop();
}

async function startsOf({ options: { effort, say }, lines, commands }: Setup): Promise<Results["starts"]> {
  const starting = (["ours", "floor", "fastify"] as const).map((name): [PeerName, PeerCommand, string] => [
    name,
    commands.get(name) as PeerCommand,
    firstRequestOf(lines),
  ]);
  return measureStarts(starting, effort.rounds, say);
}

async function memoryOf(setup: Setup, requests: number): Promise<Results["memory"]> {
  const reads = setup.lines.find(({ name }) => name === "get")?.subjects[0]?.requests ?? [];
  const mb: Partial<Record<PeerName, number>> = {};
  for (const name of ["ours", "fastify"] as const)
    await withPeers(setup, [name], async ([peer]) => {
      mb[name] = await measureMemory(peer as RunningPeer, setup.client, reads, requests);
      setup.options.say(`memory     ${name.padEnd(12)} ${mb[name].toFixed(0)} MB after ${requests} requests`);
    });
  return { requests, mb };
}

/** Starts the fixture and runs the work with a temporary folder. The cleanups run in reverse at the end. */
async function withFixture<T>(
  { dataDir, small, say }: BenchOptions,
  work: (fixture: Fixture, scratch: string, cleanups: (() => unknown)[]) => Promise<T>,
): Promise<T> {
  const cleanups: (() => unknown)[] = [];
  try {
    const scratch = mkdtempSync(join(tmpdir(), "records-bench-run-"));
    cleanups.push(() => rmSync(scratch, { recursive: true, force: true }));
    const fixture = await startFixture(dataDir, small ? smallData : fullData, small ? 0.5 : 6, say);
    cleanups.push(() => fixture.stop());
    pinToOtherCore(Object.values(fixture.databases).flat());
    return await work(fixture, scratch, cleanups);
  } finally {
    for (const end of cleanups.reverse()) await end();
  }
}

/**
 * Prints CPU profiles of each line for the service and for the first subject it is compared with, and of the start only
 * for the service. Leaves no process behind.
 */
export async function profileLines(options: BenchOptions): Promise<void> {
  await examineLines(options, async ({ name, peer, folder, start, run, seconds }) => {
    const begun = performance.now();
    const running = await start(profiling(folder));
    // Warms up until the code is compiled.
    await run(running, options.effort.warmSeconds);
    const from = name === "start" ? 0 : performance.now() - begun;
    const requests = await run(running, seconds * 3);
    await running.stop();
    options.say(profileText(`${name}, ${peerTitles[peer]}`, readProfile(folder, from), requests));
  });
}

/** Prints the number of calls per request of each line, for the service and the first subject it is compared with. */
export async function countLines(options: BenchOptions): Promise<void> {
  await examineLines(options, async ({ name, peer, folder, start, run, seconds }) => {
    const { nodeOptions, environment } = counting(folder);
    const running = await start(nodeOptions, environment);
    await run(running, 1);
    const calls = await countCalls(running.pid, folder, async () => (await run(running, seconds)) ?? 1);
    await running.stop();
    options.say(callsText(`${name}, ${peerTitles[peer]}`, calls));
  });
}

/** A subject of a line, to be run alone and with Node's own tools. */
interface Examined {
  readonly name: string;
  readonly peer: PeerName;
  /** A new folder for what Node writes. */
  readonly folder: string;
  readonly seconds: number;
  start(nodeOptions: readonly string[], environment?: Readonly<Record<string, string>>): Promise<RunningPeer>;
  /** Sends requests, and returns how many; undefined for the start. */
  run(running: RunningPeer, seconds: number): Promise<number | undefined>;
}

async function examineLines(options: BenchOptions, examine: (examined: Examined) => Promise<void>): Promise<void> {
  const { small, only, effort, node } = options;
  const plan = small ? smallData : fullData;
  await withFixture(options, async (fixture, scratch, cleanups) => {
    const programs = { scratch, node };
    const { lines, accounts, clear } = await prepare(fixture, plan, programs);
    cleanups.push(clear);
    const client = startLoadClient();
    cleanups.push(() => client.stop());
    for (const name of only ?? []) {
      const line = lines.find((one) => one.name === name);
      const subjects = line?.subjects.slice(0, 2) ?? [];
      for (const { peer, requests } of name === "start" ? [{ peer: "ours" as const, requests: [] }] : subjects) {
        await examine({
          name,
          peer,
          folder: mkdtempSync(join(scratch, `${name}-${peer}-`)),
          seconds: effort.seconds,
          async start(nodeOptions, environment = {}) {
            const commands = await peerCommands(fixture, { ...accounts, ...programs, nodeOptions });
            const command = commands.get(peer) as PeerCommand;
            const started = await startPeer(
              { ...command, environment: { ...command.environment, ...environment } },
              firstRequestOf(lines),
            );
            cleanups.push(() => started.stop());
            return started;
          },
          async run({ port }, seconds) {
            if (name === "start") return undefined;
            return (await client.run({ port, connections: 16, requests, seconds })).requests;
          },
        });
      }
    }
  });
}

interface Prepared {
  readonly accounts: { readonly reader: BenchAccount };
  readonly lines: readonly Line[];
  readonly commands: ReadonlyMap<PeerName, PeerCommand>;
  readonly clear: () => Promise<void>;
}

async function prepare(
  fixture: Fixture,
  plan: DataPlan,
  programs: { readonly scratch: string; readonly node: string },
): Promise<Prepared> {
  const account = plan.accounts.find(({ name }) => name === mainAccount) as DataPlan["accounts"][number];
  const reader = await fixture.account(mainAccount);
  const writer = await fixture.account(writerAccount);
  const clear = (): Promise<void> => clearWritten(fixture.client, writer.id);
  // An earlier run may have been interrupted.
  await clear();
  const writeContactIds = await addContacts({ client: fixture.client, accountId: writer.id, count: 200 });
  const lines = linesOf({ account, key: reader.key, writeKey: writer.key, writeContactIds });
  const accounts = { reader };
  return { accounts, lines, clear, commands: await peerCommands(fixture, { ...accounts, ...programs }) };
}

/** The request that shows that a peer is up. */
function firstRequestOf(lines: readonly Line[]): string {
  return (lines.find(({ name }) => name === "get")?.subjects[0]?.requests[0] as WireRequest).bytes;
}

function notesOn({ name, accounts }: DataPlan, { runs, rounds, seconds }: Effort, node: string): string[] {
  const total = (kind: "contacts" | "sessions" | "notes"): string =>
    accounts.reduce((sum, account) => sum + account[kind], 0).toLocaleString("en");
  return [
    `Data: ${name === "small" ? "the small set, whose figures do not matter; " : ""}${total("contacts")} contacts, ${total("sessions")} sessions and ${total("notes")} notes in ${accounts.length.toLocaleString("en")} accounts, in MongoDB's cache.`,
    machineNote(node),
    `Runs of each pair: ${runs}, each with ${rounds} rounds of ${seconds} s. Both subjects are started for the run and loaded in turn. Apart from them, only the databases run. If two runs differ by more than 15 %, the pair is measured again.`,
  ];
}

/** Describes the machine, its load and the Node. Call it at the end. */
export function machineNote(node: string): string {
  return `Machine: ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), Node ${node}. ${pinned ? "The measured service has its own core; MongoDB, Redis and the client share another." : "Processes are not pinned to cores."} Load average at the end: ${loadavg()[0]?.toFixed(0) ?? ""}; above 5, other processes were busy and the figures are rough.`;
}

/** The version of a Node, such as `v24.21.0`. */
export function versionOf(node: string): string {
  return execFileSync(node, ["--version"], { encoding: "utf8" }).trim();
}
