// One client does its worst, one attack after the other; another account and a monitor have to be answered as usual.
//
// The service is judged, not the machine. The attacker is a process of its own with the lowest priority and a bounded
// rate: it takes only the processor time that the service, its databases and the witness leave. The witness is another
// process. It first measures a quiet phase: what is slow then is slow for other reasons, and an attack is compared with
// that. How long the instance waited for a processor is among the figures.
import type { Serializable } from "node:child_process";
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { accessToken, offerIntrospection } from "../../test/mcp/oauth/set-up.ts";
import type { FakeProvider } from "../../test/sign-in/fake-provider.ts";
import { newKey, startFakeProvider } from "../../test/sign-in/fake-provider.ts";
import type { Drill, Form, Report, Run, Say } from "../drill.ts";
import type { Break } from "../ground/broken.ts";
import { brokenBuild } from "../ground/broken.ts";
import type { Ground } from "../ground/ground.ts";
import { onGround } from "../ground/ground.ts";
import { waitingMs } from "../hostile/vitals.ts";
import { quantile } from "../load/load.ts";
import type { Orders, Spent } from "./attacker.ts";
import type { Attack, Means } from "./attacks.ts";
import { attacks } from "./attacks.ts";
import type { Errand, Seen, Watch } from "./witness.ts";

const sizes = {
  long: { seconds: 30, quietSeconds: 15, attacks: attacks.length },
  short: { seconds: 4, quietSeconds: 2, attacks: 3 },
} as const;
/** As it is by default; one proxy of ours says where a request comes from. */
const limits = { RATE_LIMIT: "10", RATE_BURST: "20", TRUST_PROXY: "1" };
/** Of the requests with a valid key that stay below the limit, this share is answered with 200. */
const leastShare = 0.99;
const mostHealthMs = 250;
/** Fewer requests a second, of which nobody has noticed anything, are no attack. */
const leastShots = 20;
/** What is broken where failed look-ups are not limited. */
const unlimitedLookUps: readonly Break[] = [];

export const starvation: Drill = {
  name: "starvation",
  promise:
    "Whatever one client does, another account below the limit keeps 99 % of its answers, and health comes within 250 ms",
  run: (form, say) => starve(form, say, attacks.slice(0, sizes[form].attacks)),
  controls: [{ broken: "failed look-ups of keys are not limited", run: broken(attacks.slice(0, 1), unlimitedLookUps) }],
};

function broken(some: readonly Attack[], breaks: readonly Break[]): Run {
  return (_form, say) => starve("short", say, some, breaks);
}

async function starve(form: Form, say: Say, some: readonly Attack[], breaks: readonly Break[] = []): Promise<Report> {
  const fake = await startFakeProvider();
  // The provider is asked about what only it can read, as long as nobody bounds that.
  offerIntrospection(fake, () => ({ active: false }));
  const build = breaks.length === 0 ? {} : brokenBuild(...breaks);
  try {
    return await onGround(
      { members: 1, instances: 1, environment: { ...fake.settings(), ...limits, ...build } },
      (ground) => judge(ground, fake, form, some, say),
    );
  } finally {
    await fake.stop();
  }
}

async function judge(
  ground: Ground,
  fake: FakeProvider,
  form: Form,
  some: readonly Attack[],
  say: Say,
): Promise<Report> {
  const { seconds, quietSeconds } = sizes[form];
  const [{ base, pid } = { base: "", pid: 0 }] = ground.instances;
  const errand = await victim(ground, base);
  const means = await meansOf(ground, fake, base);
  const witness = start<Watch, Seen>("witness.ts");
  const attacker = start<Orders, Spent>("attacker.ts");
  const watch = (seconds: number): Promise<Seen> => witness.tell({ errand, seconds });
  const figures: Record<string, number | string> = {};
  const violations: string[] = [];
  try {
    // The first requests are those of a program that has not been compiled yet.
    await watch(1);
    await attacker.tell({ name: some[0]?.name ?? "", means, seconds: 0 });
    const quiet = await watch(quietSeconds);
    figures["health p99 ms, no attack"] = quantile(quiet.healthMs, 0.99);
    if (share(quiet) < leastShare || quiet.unhealthy.length > 0)
      return { figures, violations: [`nothing can be judged: without an attack, too, requests fail: ${told(quiet)}`] };
    for (const attack of some) {
      const before = violations.length;
      const waited = waitingMs(pid);
      const [seen, spent] = await Promise.all([watch(seconds), attacker.tell({ name: attack.name, means, seconds })]);
      const shots = spent.reduce((sum, [, count]) => sum + count, 0);
      const [p50, p99] = [quantile(seen.healthMs, 0.5), quantile(seen.healthMs, 0.99)];
      const waits = ((waitingMs(pid) - waited) / (10 * seconds)).toFixed(0);
      const answered = `${(100 * share(seen)).toFixed(1)} %`;
      figures[attack.name] =
        `${answered} of the other account's answers; health p99 ${p99.toFixed(1)} ms; attacker: ${counts(spent)}; ` +
        `the instance waited for a processor ${waits} % of the time`;
      say(`${attack.name}: ${figures[attack.name]}`);
      if (share(seen) < leastShare)
        violations.push(`${attack.name}: another account gets ${answered} of its answers: ${told(seen)}`);
      if (seen.unhealthy.length > 0) violations.push(`${attack.name}: health was answered ${tallied(seen.unhealthy)}`);
      // A short run is one among others, on a machine that is busy with them: there only the median is judged.
      const [ms, quietMs] =
        form === "long" ? [p99, quantile(quiet.healthMs, 0.99)] : [p50, quantile(quiet.healthMs, 0.5)];
      if (ms > Math.max(mostHealthMs, 3 * quietMs))
        violations.push(`${attack.name}: health takes ${ms.toFixed(0)} ms, ${quietMs.toFixed(1)} without an attack`);
      if (form === "long" && violations.length === before && shots < leastShots * seconds)
        violations.push(`${attack.name}: ${shots} requests are no attack`);
    }
    return { figures, violations };
  } finally {
    await attacker.stop();
    await witness.stop();
  }
}

/** Somebody who has done nothing. */
async function victim(ground: Ground, base: string): Promise<Errand> {
  const { key } = await ground.account();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const made = await fetch(`${base}/v1/contacts`, {
    method: "POST",
    headers,
    body: JSON.stringify({ full_name: "Ann Lee" }),
  });
  const { data } = (await made.json()) as { readonly data: { readonly id: string } };
  return { base, key, path: `/v1/contacts/${data.id}` };
}

/** An account like any other, with what else an attacker can come by. */
async function meansOf({ services: { accounts, apiKeys } }: Ground, fake: FakeProvider, base: string): Promise<Means> {
  const { _id } = await accounts.create("attacker@example.com", true);
  await accounts.link(_id, { issuer: fake.issuer, subject: "attacker" });
  const { secret: key } = await apiKeys.create(_id, "read_write");
  const claims = { sub: "attacker", email: "attacker@example.com" };
  const long = Math.floor(Date.now() / 1_000) - 3_600;
  const { privateKey } = await newKey("nobody's");
  const foreign = Array.from({ length: 20 }, (_, at) =>
    fake.sign({ iss: fake.issuer, ...claims, exp: long + 7_200 }, { typ: "at+jwt", kid: `nobody's ${at}` }, privateKey),
  );
  const page = await (await fetch(`${base}/docs`)).text();
  const assets = [...page.matchAll(/(?:src|href)="([^"#:]+)"/g)].map(
    ([, path = ""]) => new URL(path, `${base}/docs`).pathname,
  );
  return {
    ...{ base, key },
    token: await accessToken(fake, claims),
    badTokens: [await accessToken(fake, { ...claims, iat: long, exp: long + 600 }), ...(await Promise.all(foreign))],
    documents: [
      "/docs",
      "/openapi.json",
      "/openapi.yaml",
      "/llms.txt",
      "/",
      "/.well-known/oauth-protected-resource",
      ...assets,
    ],
  };
}

/** Somebody in a process of its own, who is told one thing after the other to do, and what came of it is heard. */
function start<Told, Heard>(module: string): { tell(told: Told): Promise<Heard>; stop(): Promise<void> } {
  const child = fork(join(import.meta.dirname, module), { execArgv: ["--import", "tsx"] });
  const exited = once(child, "exit");
  return {
    async tell(told) {
      const heard = once(child, "message");
      child.send(told as Serializable);
      const ended = exited.then(() => Promise.reject(new Error(`${module} ended by itself`)));
      return ((await Promise.race([heard, ended])) as [Heard])[0];
    },
    async stop() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

function share({ statuses }: Seen): number {
  return statuses.filter((status) => status === 200).length / statuses.length;
}

function told({ statuses, unhealthy }: Seen): string {
  return `${tallied(statuses)}${unhealthy.length === 0 ? "" : `; health ${tallied(unhealthy)}`}`;
}

function tallied(statuses: readonly number[]): string {
  const count = new Map<number, number>();
  for (const status of statuses) count.set(status, (count.get(status) ?? 0) + 1);
  return counts([...count]);
}

function counts(all: Spent): string {
  return [...all]
    .sort(([, a], [, b]) => b - a)
    .map(([status, count]) => `${status}: ${count}`)
    .join(", ");
}
