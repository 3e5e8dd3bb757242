// Clients that mean harm, while others ask for their health and a record all the time and have to be answered as usual.
import { once } from "node:events";
import { startFakeProvider } from "../../test/sign-in/fake-provider.ts";
import type { Drill, Form, Report, Run, Say } from "../drill.ts";
import type { Break } from "../ground/broken.ts";
import { brokenBuild } from "../ground/broken.ts";
import type { Ground } from "../ground/ground.ts";
import { onGround } from "../ground/ground.ts";
import { assistantOperations } from "../isolation/assistant.ts";
import { rpcOperations } from "../isolation/operations.ts";
import type { Person } from "../isolation/people.ts";
import { internalOf, newPerson } from "../isolation/people.ts";
import { closeConnections } from "../isolation/raw.ts";
import type { Hard } from "./costly.ts";
import { hardBatches, hardRequest, hardRequests } from "./costly.ts";
import type { Flood } from "./floods.ts";
import { ping, resetStreams } from "./floods.ts";
import { judgeMalformed } from "./malformed.ts";
import type { Errand } from "./prober.ts";
import { startProbes } from "./probes.ts";
import { hardShapes } from "./shapes.ts";
import type { Outcome } from "./slow.ts";
import { slownesses, startSlow } from "./slow.ts";
import { mainThreadMs, residentMb } from "./vitals.ts";

/** What a run does: everything, or one thing, for a control. */
type Focus = "all" | "slow" | "email";

/** No request may keep all others waiting for longer, in milliseconds. */
const longestBlockMs = 100;
/** More than this, in megabytes, is memory that somebody outside has made grow. */
const mostGrowthMb = 150;
/** A rate that the probes and one request after the other keep to, and floods do not. */
const limits = { RATE_LIMIT: "400", RATE_BURST: "400" };
/** Less than an instance gets by itself, so that what only waits to be collected is not taken for growth. */
const heapMb = 192;
const listener = "src/http/listener.ts";
const headersLimit = "const headersTimeoutMs = 10_000;";
const requestLimit = "const requestTimeoutMs = 15_000;";
/** In the short form the service's own limits are a fifth as long, so that there is less to wait for. */
const hurried: readonly Break[] = [
  { file: listener, from: headersLimit, to: "const headersTimeoutMs = 2_000;" },
  { file: listener, from: requestLimit, to: "const requestTimeoutMs = 3_000;" },
  { file: listener, from: "const keepAliveMs = 65_000;", to: "const keepAliveMs = 3_000;" },
];

export const hostile: Drill = {
  name: "hostile",
  promise: "No client can keep the others waiting, whatever it sends or leaves out",
  run: (form, say) => attack(form, say, "all", form === "long" ? [] : hurried),
  controls: [
    {
      broken: "slow clients have all the time that they want",
      run: broken("slow", { file: listener, from: headersLimit, to: "const headersTimeoutMs = 600_000;" }, { file: listener, from: requestLimit, to: "const requestTimeoutMs = 600_000;" }),
    },
    {
      broken: "a text of any length is held against the pattern of an email",
      run: broken("email", { file: "src/guards/validate.ts", from: "  if (text.length > patternLimit) return false;\n", to: "" }),
    },
  ],
};

function broken(focus: Focus, ...breaks: readonly Break[]): Run {
  return (_form, say) => attack("short", say, focus, breaks);
}

async function attack(form: Form, say: Say, focus: Focus, breaks: readonly Break[]): Promise<Report> {
  const fake = await startFakeProvider();
  const { NODE_OPTIONS } = brokenBuild(...breaks);
  try {
    return await onGround({ members: 1, instances: 1, environment: { ...fake.settings(), ...limits, NODE_OPTIONS: `${NODE_OPTIONS} --max-old-space-size=${heapMb}` } }, async (ground) => {
      const person = await newPerson(ground, fake, "read_write", { past: 1941, future: 2041 });
      return judge(ground, person, form, focus, say);
    });
  } finally {
    closeConnections();
    await fake.stop();
  }
}

async function judge(ground: Ground, person: Person, form: Form, focus: Focus, say: Say): Promise<Report> {
  const [{ base, pid } = { base: "", pid: 0 }] = ground.instances;
  const long = form === "long";
  const where = { base, origin: base.replace("127.0.0.1", "localhost"), internal: internalOf(ground) };
  const violations: string[] = [];
  const figures: Record<string, number | string> = {};
  const probes = startProbes(await bystander(ground, base));
  try {
    await wait(500);
    await probes.take();
    await wait(long ? 5_000 : 1_000);
    const idle = await probes.take();
    figures["probe p99 ms, nothing else going on"] = idle.p99;
    const memoryBefore = residentMb(pid);
    // A short run is one among others, on a machine that is busy with them: there only what holds up most probes is told.
    const judged = long ? "p99" : "p50";
    const mostMs = long ? Math.max(longestBlockMs, 3 * idle.p99) : Math.max(500, 20 * idle.p50);

    const during = async (what: string, work: () => Promise<unknown>): Promise<void> => {
      await work();
      await wait(500);
      const seen = await probes.take();
      const { count, p99, worst, failures } = seen;
      figures[`probe p99 ms, ${what}`] = p99;
      figures[`probe worst ms, ${what}`] = worst;
      say(`${what}: ${count} probes, p99 ${p99.toFixed(1)} ms, worst ${worst.toFixed(1)} ms, ${residentMb(pid).toFixed(0)} MB`);
      if (seen[judged] > mostMs) violations.push(`${what}: the ${judged} of the probes is ${seen[judged].toFixed(0)} ms, ${idle[judged].toFixed(1)} ms when nothing else goes on`);
      // On a busy machine MongoDB may not answer in time: that is not the clients' doing.
      for (const failure of failures.filter((one) => long || !one.endsWith(" 503")).slice(0, 3)) violations.push(`${what}: a probe was not answered: ${failure}`);
    };

    const slow = focus === "email" ? undefined : startSlow({ port: Number(new URL(base).port), key: person.key }, focus === "slow" ? slownesses.slice(0, 5) : slownesses, long ? 500 : 66);
    if (focus !== "slow") {
      const operations = [...rpcOperations(where), ...(await assistantOperations(where, person))].filter(({ wire }) => /^(REST|Connect|Connect in binary|MCP)$/.test(wire));
      const all = focus === "email"
        ? operations.filter(({ wire, fields }) => wire === "REST" && fields.includes("email")).map((operation) => hardRequest(operation, person, "email", "an email's parts without an end", "text"))
        : [...hardRequests(operations, person), ...hardBatches(where, person)];
      const chosen = long || focus === "email" ? all : all.filter((_, at) => at % Math.ceil(all.length / 150) === 0);
      await during("hard strings", () => measure("a string", chosen, pid, figures, violations));
    }
    if (focus === "all") {
      await during("hard shapes", () => measure("a shape", hardShapes(where, person), pid, figures, violations));
      await during("malformed messages", async () => {
        const { count, wrong } = await judgeMalformed(base, person.key);
        figures["malformed messages"] = count;
        violations.push(...wrong);
      });
      const count = long ? 10_000 : 1_000;
      await during("streams that are reset", () => note("resets", () => resetStreams(base, person.key, count)));
      await during("pings", () => note("pings", () => ping(base, count)));
    }
    if (slow !== undefined) await during("slow clients", async () => judgeSlow(await slow.settled(focus === "slow" ? 7_000 : long ? 110_000 : 20_000), figures, violations));
    const growth = residentMb(pid) - memoryBefore;
    figures["memory before, MB"] = memoryBefore;
    figures["memory growth, MB"] = growth;
    if (growth > mostGrowthMb) violations.push(`the instance holds ${growth.toFixed(0)} MB more than before`);
    return { figures, violations };
  } finally {
    await probes.stop();
  }

  async function note(what: string, flood: () => Promise<Flood>): Promise<void> {
    const before = mainThreadMs(pid);
    const { sent, broken } = await flood();
    figures[what] = sent;
    figures[`connections broken over ${what}`] = broken;
    figures[`milliseconds of the main thread for each of the ${what}`] = (mainThreadMs(pid) - before) / sent;
  }
}

/** Somebody else, whose requests nothing that is done with the person's key may throttle. */
async function bystander(ground: Ground, base: string): Promise<Errand> {
  const { key } = await ground.account();
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const made = await fetch(`${base}/v1/contacts`, { method: "POST", headers, body: JSON.stringify({ full_name: "Ann Lee" }) });
  const { data } = (await made.json()) as { data: { id: string } };
  return { base, key, paths: ["/v1/health", `/v1/contacts/${data.id}`] };
}

/** Sends each by itself, and keeps the worst. One that seems to hold up the rest is sent again: the lesser of the two counts. */
async function measure(kind: string, requests: readonly Hard[], pid: number, figures: Record<string, number | string>, violations: string[]): Promise<void> {
  const costs: { readonly name: string; readonly ms: number }[] = [];
  const cost = async ({ name, send }: Hard): Promise<number> => {
    const before = mainThreadMs(pid);
    const { status } = await send().catch(() => ({ status: 0 }));
    if (status === 429) violations.push(`${kind} was not put to the test: ${name} was throttled`);
    if (status >= 500 && status !== 503) violations.push(`${kind} was answered ${status}`);
    return mainThreadMs(pid) - before;
  };
  for (const request of requests) {
    const first = await cost(request);
    const ms = first > longestBlockMs ? Math.min(first, await cost(request)) : first;
    costs.push({ name: request.name, ms });
    if (ms > longestBlockMs && request.inParts !== true) violations.push(`${request.name} keeps the instance busy for ${ms.toFixed(0)} ms`);
  }
  costs.sort((a, b) => b.ms - a.ms);
  figures[`requests with ${kind}`] = costs.length;
  for (const [at, { name, ms }] of costs.slice(0, 5).entries()) figures[`${kind}, the ${at + 1}. worst`] = `${ms.toFixed(1)} ms: ${name}`;
}

function judgeSlow(outcomes: readonly Outcome[], figures: Record<string, number | string>, violations: string[]): void {
  for (const { kind, clients, keptMs } of outcomes) {
    const kept = keptMs.filter((ms) => ms !== undefined);
    figures[`seconds until closed: ${kind.name}`] = kept.length === 0 ? "never" : `${(Math.min(...kept) / 1_000).toFixed(1)}–${(Math.max(...kept) / 1_000).toFixed(1)}`;
    if (kept.length < clients) violations.push(`${clients - kept.length} of ${clients} slow clients were not closed: ${kind.name}`);
  }
}

async function wait(ms: number): Promise<void> {
  await once(AbortSignal.timeout(ms), "abort");
}
