// The bench from the data to the results: lays the fixture, starts everyone, checks that they answer alike, and
// measures.
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { differences } from "./check.ts";
import type { DataPlan } from "./dataset/accounts.ts";
import { fullData, mainAccount, smallData } from "./dataset/accounts.ts";
import { transcriptIdsOf } from "./dataset/load.ts";
import { addContacts, clearWritten } from "./dataset/written.ts";
import { buildGo } from "./go.ts";
import type { BenchAccount, Fixture } from "./fixture.ts";
import { layGround } from "./fixture.ts";
import type { Line } from "./lines.ts";
import { linesOf } from "./lines.ts";
import type { WireRequest } from "./load/load.ts";
import type { Effort } from "./measure.ts";
import { measureLine, measureStarts } from "./measure.ts";
import type { PeerName } from "./peers/peers.ts";
import { ours, peerCommands } from "./peers/peers.ts";
import type { PeerCommand, RunningPeer } from "./processes.ts";
import { otherCore, pinToOtherCore, pinned, serverCore, startLoadClient, startPeer } from "./processes.ts";
import { profileText, profiling, readProfile } from "./profile.ts";
import type { Results } from "./results.ts";
import { measureSearches } from "./search.ts";

/** What of the bench is run, and on what. */
export interface BenchOptions {
  readonly dataDir: string;
  readonly small: boolean;
  /** Lines by their names, and "start" and "search"; undefined for all. */
  readonly only: readonly string[] | undefined;
  readonly effort: Effort;
  readonly say: (line: string) => void;
  /** Whether the peer in Go is built and takes part, where there is Go. */
  readonly go: boolean;
}

/** What came of it; `notes` are sentences on how it was measured. */
export interface Benched {
  readonly results: Results;
  readonly notes: readonly string[];
}

const writer = "writes";

/** Runs the bench. Fails where somebody answers otherwise than the service. Leaves no process behind. */
export async function bench({ dataDir, small, only, effort, say, go }: BenchOptions): Promise<Benched> {
  const plan = small ? smallData : fullData;
  const wanted = (name: string): boolean => only === undefined || only.includes(name);
  return withFixture(dataDir, plan, small, say, async (fixture, scratch, endings) => {
    const { reader, lines, commands, clear } = await prepare(
      fixture,
      plan,
      scratch,
      go ? buildGo(scratch, say) : undefined,
    );
    endings.push(clear);

    const results: Results = { rows: [], starts: new Map(), searches: [] };
    const firstRequest = (name: PeerName): string => firstRequestOf(lines, name);
    const starting = ["ours", "floor", "fastify", "connect", "go"] as const;
    if (wanted("start")) {
      const chosen = starting
        .filter((name) => commands.has(name))
        .map(
          (name) => [name, commands.get(name) as PeerCommand, firstRequest(name)] as [PeerName, PeerCommand, string],
        );
      for (const [name, all] of await measureStarts(chosen, effort.rounds, say)) results.starts.set(name, all);
    }
    const chosen = lines
      .filter(({ name }) => wanted(name))
      .map((line) => ({
        ...line,
        subjects: line.subjects.filter(({ peers }) => peers.every((peer) => commands.has(peer))),
      }));
    const needed = new Set<PeerName>([
      ...chosen.flatMap(({ subjects }) => subjects.flatMap(({ peers }) => peers)),
      ...(wanted("search") ? (["ours"] as const) : []),
    ]);
    const peers = new Map<PeerName, RunningPeer>();
    const started = await Promise.allSettled(
      [...needed].map(async (name) => {
        const peer = await startPeer(
          commands.get(name) as PeerCommand,
          firstRequest(name),
          name === "ours2" ? otherCore : serverCore,
        );
        endings.push(() => peer.stop());
        peers.set(name, peer);
      }),
    );
    for (const one of started) if (one.status === "rejected") throw one.reason;
    await requireSameAnswers(chosen, peers);
    const client = startLoadClient();
    endings.push(() => client.stop());
    for (const line of chosen) results.rows.push(...(await measureLine(line, peers, client, effort, say)));
    const service = peers.get("ours");
    if (wanted("search") && service !== undefined)
      results.searches.push(...(await measureSearches(fixture, plan, reader, service.port, client, effort, say)));
    return { results, notes: notesOn(plan, effort) };
  });
}

/**
 * Lays the fixture and runs the work, with a folder to throw away; what it puts among the endings is done last, in the
 * end.
 */
async function withFixture<T>(
  dataDir: string,
  plan: DataPlan,
  small: boolean,
  say: (line: string) => void,
  work: (fixture: Fixture, scratch: string, endings: (() => unknown)[]) => Promise<T>,
): Promise<T> {
  const endings: (() => unknown)[] = [];
  try {
    const scratch = mkdtempSync(join(tmpdir(), "records-bench-run-"));
    endings.push(() => rmSync(scratch, { recursive: true, force: true }));
    const fixture = await layGround(dataDir, plan, small ? 0.5 : 6, say);
    endings.push(() => fixture.stop());
    pinToOtherCore(fixture.serverPids);
    return await work(fixture, scratch, endings);
  } finally {
    for (const end of endings.reverse()) await end();
  }
}

/** Shows a CPU profile of the service for each of the lines, and of its start. Leaves no process behind. */
export async function profileLines({ dataDir, small, only, effort, say }: BenchOptions): Promise<void> {
  const plan = small ? smallData : fullData;
  await withFixture(dataDir, plan, small, say, async (fixture, scratch, endings) => {
    const { lines, clear } = await prepare(fixture, plan, scratch, undefined);
    endings.push(clear);
    const client = startLoadClient();
    endings.push(() => client.stop());
    for (const name of only ?? []) {
      const folder = join(scratch, `profile-${name}`);
      const begun = performance.now();
      const service = await startPeer(
        ours(fixture, join(scratch, `service-${name}`), ...profiling(folder)),
        firstRequestOf(lines, "ours"),
      );
      endings.push(() => service.stop());
      const subjects =
        lines.find((line) => line.name === name)?.subjects.filter(({ peers }) => peers[0] === "ours") ?? [];
      const load = {
        ports: [service.port],
        connections: 16,
        requests: subjects.at(name === "create" ? -1 : 0)?.requests ?? [],
      };
      if (name !== "start") await client.run({ ...load, seconds: effort.seconds });
      const from = name === "start" ? 0 : performance.now() - begun;
      if (name !== "start") await client.run({ ...load, seconds: effort.seconds * 3 });
      await service.stop();
      say(profileText(name, readProfile(folder, from)));
    }
  });
}

interface Prepared {
  readonly reader: BenchAccount;
  readonly lines: readonly Line[];
  readonly commands: ReadonlyMap<PeerName, PeerCommand>;
  readonly clear: () => Promise<void>;
}

async function prepare(
  fixture: Fixture,
  plan: DataPlan,
  scratch: string,
  goProgram: string | undefined,
): Promise<Prepared> {
  const account = plan.accounts.find(({ name }) => name === mainAccount) as DataPlan["accounts"][number];
  const reader = await fixture.account(mainAccount);
  const writes = await fixture.account(writer);
  const clear = (): Promise<void> => clearWritten(fixture.client, writes.id);
  // An earlier run may have been cut off.
  await clear();
  const writeContactIds = await addContacts({ client: fixture.client, accountId: writes.id, count: 200 });
  const transcriptIds = await transcriptIdsOf(fixture.client, reader.id);
  const lines = linesOf({ account, key: reader.key, writeKey: writes.key, writeContactIds, transcriptIds });
  return { reader, lines, clear, commands: await peerCommands(fixture, reader, writes, scratch, goProgram) };
}

async function requireSameAnswers(lines: readonly Line[], peers: ReadonlyMap<PeerName, RunningPeer>): Promise<void> {
  for (const line of lines) {
    const found = await differences(line, (name) => (peers.get(name) as RunningPeer).port);
    if (found.length > 0) throw new Error(`Not everybody answers the same:\n${found.slice(0, 5).join("\n")}`);
  }
}

/** By what it is seen that a peer answers; empty for one that speaks HTTP/2 alone, whose port has to do. */
function firstRequestOf(lines: readonly Line[], peer: PeerName): string {
  const line = lines.find(({ name }) => name === (peer === "connect" ? "connect" : "get"));
  const request = line?.subjects[0]?.requests[0] as WireRequest;
  return peer === "connectHttp2" ? "" : request.bytes;
}

function notesOn({ name, accounts }: DataPlan, { rounds, seconds }: Effort): string[] {
  const total = (kind: "contacts" | "sessions" | "notes"): string =>
    accounts.reduce((sum, account) => sum + account[kind], 0).toLocaleString("en");
  return [
    `Data: ${name === "small" ? "the small set, whose figures mean nothing; " : ""}${total("contacts")} contacts, ${total("sessions")} sessions and ${total("notes")} notes in ${accounts.length.toLocaleString("en")} accounts, in MongoDB's cache.`,
    machineNote(),
    `Each figure is the median of ${rounds} rounds of ${seconds} s, in which everyone comes in turn. CPU is that of the service's process for each request, which depends least on what else the machine does.`,
    "The service and the floor read a contact by one aggregation; the others, where nothing else is said, by a find for each collection, as one writes it by hand.",
    "Everyone but the floor looks the key up in MongoDB, takes a token from a bucket in Redis, validates the request and logs it. All read the same documents, and were seen to give the same answers before.",
  ];
}

/** What it ran on, and how busy that was. Call it at the end. */
export function machineNote(): string {
  return `Machine: ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), node ${process.version}. ${pinned ? "The service under measurement has a core for itself; MongoDB, Redis and the client share another." : "Nothing is bound to a core."} Load average at the end: ${loadavg()[0]?.toFixed(0) ?? ""}; above 5, others were at work there and the figures are rough.`;
}
