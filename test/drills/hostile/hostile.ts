// The hostile drill: attacks an instance while probes of health and of a record must be served as usual.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import type { Control, Drill, Form, Report, Say } from "../drill.ts";
import type { Break, Build } from "../fixture/broken.ts";
import { brokenBuild, brokenControl } from "../fixture/broken.ts";
import { putInto } from "../fixture/user.ts";
import type { Fixture } from "../../fixtures/service/fixture.ts";
import { withFixture } from "../../fixtures/service/fixture.ts";
import type { User } from "../isolation/users.ts";
import { internalOf, newUser } from "../isolation/users.ts";
import { closeConnections } from "../isolation/raw.ts";
import type { Case } from "./cases.ts";
import { dense, sendDense } from "./dense.ts";
import type { Selection } from "./derived.ts";
import { derive } from "./derived.ts";
import { gauged, openGauge } from "./gauge.ts";
import { largestResponses } from "./largest.ts";
import { searchesOfOneLetter } from "./one-letter.ts";
import { emailSlot } from "./regressions.ts";
import type { Errand } from "./prober.ts";
import { startProbes } from "./probes.ts";
import { hardShapes } from "./shapes.ts";
import { fillWithUnread, holdUnread, leaveFailuresUnread, maxOpen } from "./unread.ts";
import type { Outcome } from "./slow.ts";
import { slownesses, startSlow } from "./slow.ts";
import { isRunning, residentMb } from "./vitals.ts";
import { maxBlockMs, weighAll } from "./weigh.ts";

/** What to run: everything, or one attack for a control. */
type Focus = "all" | "slow" | "dense" | "largest" | "one letter" | "unread" | Exclude<Selection, "all">;

/** The maximum memory growth in megabytes. The largest response needs 100. */
const maxGrowthMb = 250;
/** Above the rate of the probes and the cases. Requests name their address as a trusted proxy would. */
const limits = { RATE_LIMIT: "5000", RATE_BURST: "5000", TRUST_PROXY: "1" };
/** The connections of one client, and the maximum p99 of another client's requests meanwhile, in milliseconds. */
const denseConnections = 50;
const denseMs = 250;
/** Below Node's default, so that uncollected garbage does not count as growth. */
const heapMb = 192;
/** The short form requests this share of the largest responses: 10 MB instead of 50. */
const shortShare = 0.2;
/** How long derived cases are sent. The order is fixed, so a longer run includes a shorter one. */
const derivingMs = { long: 900_000, short: 6_000 } as const;
/** A control ends at its first finding. This leaves enough time on a slow machine. */
const controlMs = 60_000;
const headersLimit = "const headersTimeoutMs = 10_000;";
const requestLimit = "const requestTimeoutMs = 15_000;";
/** The short form reduces the service's time limits, to have less to wait for. */
const hurried: readonly Break[] = [
  { from: headersLimit, to: "const headersTimeoutMs = 2_000;" },
  { from: requestLimit, to: "const requestTimeoutMs = 3_000;" },
  { from: "const keepAliveMs = 65_000;", to: "const keepAliveMs = 3_000;" },
  { from: "const stalledMs = 30_000;", to: "const stalledMs = 5_000;" },
];
const requestId = 'const sent = single(headers["x-request-id"]);';

export const hostile: Drill = {
  name: "hostile",
  promise: "No client can keep the others waiting, whatever it sends or leaves out",
  run: (form, say) => attack(form, say, "all", brokenBuild(...(form === "long" ? [] : hurried))),
  breaks: hurried,
  controls: [
    control(
      "a text of any length is matched against the email pattern",
      { onceBad: emailSlot },
      {
        from: "  if (text.length > patternLimit) return false;\n",
        to: "",
      },
    ),
    control(
      "accept-encoding is split by an expression that backtracks over spaces",
      { slot: "accept-encoding", version: "HTTP/2" },
      {
        from: requestId,
        to: `single(headers["accept-encoding"])?.split(/\\s*;\\s*q=/);\n  ${requestId}`,
      },
    ),
    control(
      "the input of a connection is parsed without pacing",
      "dense",
      { from: "const pieceBytes = 2_048;", to: "const pieceBytes = 1_000_000;" },
      { from: "const maxPending = 16;", to: "const maxPending = 1_000_000;" },
    ),
    control("a response of any size is built in one go", "largest", {
      from: "const largeBytes = 1_000_000;",
      to: "const largeBytes = 1_000_000_000;",
    }),
    control("a word is looked for at every letter of a text", "one letter", {
      from: "  const first = joined.indexOf(word);\n",
      to: '  const first = folded.search(new RegExp([...word].join(`${JOINED_BY}*`), "v"));\n',
    }),
    control("any number of responses may stay unread", "unread", {
      from: "  if (isTooMuch || (sending > 0 && sending + bytes > maxBytes)) rejectLarge();\n",
      to: "",
    }),
    control("any number of streams may be open", "unread", {
      from: "      if (sum + amount > total || before + amount > ofEach) return undefined;\n",
      to: "",
    }),
    control(
      "slow clients are never timed out",
      "slow",
      { from: headersLimit, to: "const headersTimeoutMs = 600_000;" },
      { from: requestLimit, to: "const requestTimeoutMs = 600_000;" },
    ),
  ],
};

function control(broken: string, focus: Focus, ...breaks: readonly Break[]): Control {
  return brokenControl(broken, breaks, (build, say) => attack("short", say, focus, build));
}

async function attack(form: Form, say: Say, focus: Focus, build: Build): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "records-gauge-"));
  const socket = join(folder, "gauge");
  const fake = await startFakeProvider();
  const settings = gauged(socket, `--max-old-space-size=${heapMb}`);
  const environment = { ...fake.settings(), ...limits, ...settings, ...build };
  try {
    return await withFixture({ members: 1, instances: 1, environment }, async (fixture) => {
      const user = await newUser(fixture, fake, "read_write", { past: 1941, future: 2041 });
      return check(fixture, user, socket, form, focus, say);
    });
  } finally {
    closeConnections();
    await fake.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function check(
  fixture: Fixture,
  user: User,
  socket: string,
  form: Form,
  focus: Focus,
  say: Say,
): Promise<Report> {
  const [{ base, pid } = { base: "", pid: 0 }] = fixture.instances;
  const long = form === "long";
  const where = { base, origin: base.replace("127.0.0.1", "localhost"), internal: internalOf(fixture) };
  const violations: string[] = [];
  const figures: Record<string, number | string> = {};
  const gauge = await openGauge(socket, pid);
  const probes = startProbes(await bystander(fixture, base));
  try {
    await wait(500);
    await probes.take();
    await wait(long ? 5_000 : 1_000);
    const idle = await probes.take();
    figures["probe p99 ms, idle"] = idle.p99;
    const memoryBefore = residentMb(pid);
    // Other tests run beside the short form, so it only checks the median.
    const checked = long ? "p99" : "p50";
    const maxMs = long ? Math.max(maxBlockMs, 3 * idle.p99) : Math.max(500, 20 * idle.p50);

    const during = async (what: string, work: () => Promise<unknown>, limitMs = maxMs): Promise<void> => {
      await work();
      await wait(500);
      const seen = await probes.take();
      const { count, p99, worst, failures } = seen;
      figures[`probe p99 ms, ${what}`] = p99;
      figures[`probe worst ms, ${what}`] = worst;
      const memory = residentMb(pid).toFixed(0);
      say(`${what}: ${count} probes, p99 ${p99.toFixed(1)} ms, worst ${worst.toFixed(1)} ms, ${memory} MB`);
      if (seen[checked] > limitMs)
        violations.push(
          `${what}: ${checked} of the probes is ${seen[checked].toFixed(0)} ms, ${idle[checked].toFixed(1)} ms when idle`,
        );
      // On a busy machine, MongoDB may not respond in time. That is not the clients' fault.
      const unexplained = failures.filter((one) => long || !one.endsWith(" 503"));
      for (const failure of unexplained.slice(0, 3)) violations.push(`${what}: a probe failed: ${failure}`);
    };
    // The first violation is enough for a control.
    const found = focus === "all" ? 10 : 1;
    const measured = async (kind: string, cases: Iterable<Case>, ms: number): Promise<void> => {
      const {
        count,
        worst,
        violations: faults,
      } = await weighAll(cases, gauge, { untilMs: performance.now() + ms, found });
      violations.push(...faults);
      figures[`requests with ${kind}`] = count;
      for (const [at, { name, taken }] of worst.entries())
        figures[`${kind}, worst #${at + 1}`] = `${taken.blockMs.toFixed(1)} of ${taken.cpuMs.toFixed(1)} ms: ${name}`;
    };

    const kinds = focus === "slow" ? slownesses.slice(0, 5) : slownesses;
    const slow =
      focus === "all" || focus === "slow"
        ? startSlow({ port: Number(new URL(base).port), key: user.key }, kinds, long ? 500 : 66)
        : undefined;
    if (focus === "all" || focus === "dense") {
      for (const one of dense) {
        const flood = (): Promise<unknown> => sendDense(base, one, denseConnections, long ? 5_000 : 1_000);
        await during(`${denseConnections} connections full of ${one.name}`, flood, long ? denseMs : maxMs);
      }
    }
    if (focus === "all" || focus === "unread") {
      const account = await fixture.account();
      await fillWithUnread(putInto(fixture, account.id));
      await during("unread responses", async () => {
        const { statuses, growth } = await holdUnread(base, pid, account.key, long ? 200 : 75);
        figures["unread responses, by status"] = JSON.stringify(statuses);
        if (growth > maxGrowthMb) violations.push(`unread responses take ${growth.toFixed(0)} MB`);
      });
      await during("unread failures", async () => {
        const open = await leaveFailuresUnread(base, long ? 300 : 50);
        if (open > maxOpen) violations.push(`${open} unread streams are open`);
      });
    }
    if (focus === "all" || focus === "largest") {
      const every = await largestResponses(where, putInto(fixture, user.accountId), user, long ? 1 : shortShare);
      // The short form takes one REST request, two RPCs and a tool.
      const largest = every.filter((_, at) => long || at % 6 === 0);
      await during("the largest responses", () => measured("a largest response", largest, 60_000));
    }
    if (focus === "all" || focus === "one letter") {
      const searches = await searchesOfOneLetter(where, putInto(fixture, user.accountId), user);
      await during("texts of one letter", () => measured("one letter", searches, 60_000));
    }
    if (focus === "all" || typeof focus === "object") {
      const derived = await derive(where, user, focus);
      const { places, ways, patterns, cases } = derived;
      say(`${places} places reached in ${ways} ways, ${patterns} patterns`);
      await during("hard texts", () => measured("a hard text", cases, focus === "all" ? derivingMs[form] : controlMs));
      derived.close();
    }
    if (focus === "all") await during("hard shapes", () => measured("a hard shape", hardShapes(where, user), 60_000));
    if (slow !== undefined) {
      const patienceMs = focus === "slow" ? 7_000 : long ? 110_000 : 20_000;
      await during("slow clients", async () => checkSlow(await slow.settled(patienceMs), figures, violations));
    }
    const growth = residentMb(pid) - memoryBefore;
    figures["memory before, MB"] = memoryBefore;
    figures["memory growth, MB"] = growth;
    if (growth > maxGrowthMb) violations.push(`the instance uses ${growth.toFixed(0)} MB more than before`);
    return { figures, violations };
  } catch (error) {
    if (isRunning(pid)) throw error;
    return { figures, violations: [...violations, "the instance crashed"] };
  } finally {
    gauge.close();
    await probes.stop();
  }
}

/** Another client, whose requests must not be throttled by what the attacker does. */
async function bystander(fixture: Fixture, base: string): Promise<Errand> {
  const { key } = await fixture.account();
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const made = await fetch(`${base}/v1/contacts`, {
    method: "POST",
    headers,
    body: JSON.stringify({ full_name: "Ann Lee" }),
  });
  const { data } = (await made.json()) as { data: { id: string } };
  return { base, key, paths: ["/v1/health", `/v1/contacts/${data.id}`] };
}

function checkSlow(outcomes: readonly Outcome[], figures: Record<string, number | string>, violations: string[]): void {
  for (const { kind, clients, keptMs } of outcomes) {
    const kept = keptMs.filter((ms) => ms !== undefined);
    figures[`seconds until closed: ${kind.name}`] =
      kept.length === 0
        ? "never"
        : `${(Math.min(...kept) / 1_000).toFixed(1)}–${(Math.max(...kept) / 1_000).toFixed(1)}`;
    if (kept.length < clients)
      violations.push(`${clients - kept.length} of ${clients} slow clients were not closed: ${kind.name}`);
  }
}

async function wait(ms: number): Promise<void> {
  await once(AbortSignal.timeout(ms), "abort");
}
