// One client attacks; another account and a monitor must get their responses as usual.
//
// The drill checks the service, not the machine. The attacker is a child process with the lowest priority and a bounded
// rate. It uses only the processor time that the service, its databases and the witness leave. The witness is another
// child process, and measures a quiet phase first for comparison. The drill does not check an attack during which the
// instance often waits for a processor.
import type { Serializable } from "node:child_process";
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { accessToken, offerIntrospection } from "../../fixtures/sign-in/assistants.ts";
import type { FakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { startFakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { newKey } from "../../fixtures/sign-in/keys.ts";
import type { Drill, Form, Report, Say } from "../drill.ts";
import type { Break } from "../fixture/broken.ts";
import { brokenControl } from "../fixture/broken.ts";
import type { Fixture } from "../../fixtures/service/fixture.ts";
import { withFixture } from "../../fixtures/service/fixture.ts";
import { fillWithLargest } from "../hostile/largest.ts";
import { waitingMs } from "../hostile/vitals.ts";
import { putInto } from "../fixture/user.ts";
import { quantile } from "../load/load.ts";
import type { Orders, Spent } from "./attacker.ts";
import type { Attack, Means } from "./attacks.ts";
import { attacks } from "./attacks.ts";
import { faultsOf, summaryOf, unfit } from "./verdict.ts";
import type { Errand, Seen, Watch } from "./witness.ts";

const sizes = {
  long: { seconds: 30, quietSeconds: 15, attacks: attacks.length },
  short: { seconds: 4, quietSeconds: 2, attacks: 3 },
} as const;
/** The default limits, behind one trusted proxy. */
const limits = { RATE_LIMIT: "10", RATE_BURST: "20", TRUST_PROXY: "1" };
/** Removes the limits of failed look-ups. */
const unlimitedLookUps: readonly Break[] = [
  { from: "const waitMs = await lookUps.take(network);", to: "const waitMs = 0;" },
  { from: "unverified: Math.max(1, Math.floor(slots / 2))", to: "unverified: slots" },
  {
    from: '!(await timed(deadline.tally, "queueMs", "a slot", () => wait(credential, deadline)))',
    to: "true",
  },
];

export const starvation: Drill = {
  name: "starvation",
  promise:
    "Whatever one client does, others below the limit keep 99 % of their responses, and health takes at most 250 ms",
  run: (form, say) => starve({ form, some: attacks.slice(0, sizes[form].attacks), isControl: false }, say),
  controls: [
    brokenControl("failed key look-ups are not limited", unlimitedLookUps, (build, say) =>
      starve({ form: "short", some: attacks.slice(0, 3), isControl: true }, say, build),
    ),
  ],
};

interface Plan {
  readonly form: Form;
  readonly some: readonly Attack[];
  readonly isControl: boolean;
}

async function starve(plan: Plan, say: Say, build: Readonly<Record<string, string>> = {}): Promise<Report> {
  const fake = await startFakeProvider();
  // Without a limit, each opaque token costs a request to the provider.
  offerIntrospection(fake, () => ({ active: false }));
  try {
    return await withFixture(
      { members: 1, instances: 1, environment: { ...fake.settings(), ...limits, ...build } },
      (fixture) => check(fixture, fake, plan, say),
    );
  } finally {
    await fake.stop();
  }
}

async function check(fixture: Fixture, fake: FakeProvider, plan: Plan, say: Say): Promise<Report> {
  const { form, some, isControl } = plan;
  const { seconds, quietSeconds } = sizes[form];
  const [{ base, pid } = { base: "", pid: 0 }] = fixture.instances;
  const errand = await victim(fixture, base);
  const means = await meansOf(fixture, fake, base, some);
  const witness = start<Watch, Seen>("witness.ts");
  const attacker = start<Orders, Spent>("attacker.ts");
  const watch = (seconds: number): Promise<Seen> => witness.run({ errand, seconds });
  const figures: Record<string, number | string> = {};
  const violations: string[] = [];
  try {
    // Warms up all three processes: code that is not compiled yet costs many times as much.
    await watch(1);
    await attacker.run({ name: some.at(-1)?.name ?? "", means, seconds: 1 });
    const quiet = await watch(quietSeconds);
    figures["health p99 ms, no attack"] = quantile(quiet.healthMs, 0.99);
    const reason = unfit(quiet);
    if (reason !== undefined) return { figures, violations: [reason] };
    for (const { name } of some) {
      const before = waitingMs(pid);
      const [seen, spent] = await Promise.all([watch(seconds), attacker.run({ name, means, seconds })]);
      const attacked = { quiet, seen, spent, seconds, waiting: (waitingMs(pid) - before) / (1_000 * seconds) };
      figures[name] = summaryOf(attacked);
      say(`${name}: ${figures[name]}`);
      violations.push(...faultsOf(attacked, form, isControl).map((fault) => `${name}: ${fault}`));
    }
    return { figures, violations };
  } finally {
    await attacker.stop();
    await witness.stop();
  }
}

/** An account that does not attack. */
async function victim(fixture: Fixture, base: string): Promise<Errand> {
  const { key } = await fixture.account();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const made = await fetch(`${base}/v1/contacts`, {
    method: "POST",
    headers,
    body: JSON.stringify({ full_name: "Ann Lee" }),
  });
  const { data } = (await made.json()) as { readonly data: { readonly id: string } };
  return { base, key, path: `/v1/contacts/${data.id}` };
}

/** The attacker's account, with the largest records if an attack needs them, and public data. */
async function meansOf(fixture: Fixture, fake: FakeProvider, base: string, some: readonly Attack[]): Promise<Means> {
  const { accounts, apiKeys } = fixture.services;
  const { _id } = await accounts.create("attacker@example.com", true);
  await accounts.link(_id, { issuer: fake.issuer, subject: "attacker" });
  const { secret: key } = await apiKeys.create(_id, "read_write");
  if (some.some(({ needsLargest }) => needsLargest === true))
    await fillWithLargest(putInto(fixture, _id.toHexString()), "large");
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
    base,
    key,
    token: await accessToken(fake, claims),
    badTokens: [await accessToken(fake, { ...claims, iat: long, exp: long + 600 }), ...(await Promise.all(foreign))],
    documents: [
      "/docs",
      "/guide",
      "/guide/search",
      "/openapi.json",
      "/openapi.yaml",
      "/llms.txt",
      "/",
      "/.well-known/oauth-protected-resource",
      ...assets,
    ],
  };
}

/** A child process that takes one order at a time. */
interface Worker<Order, Result> {
  run(order: Order): Promise<Result>;
  stop(): Promise<void>;
}

/** Starts a child process that takes one order at a time and reports its result. */
function start<Order, Result>(module: string): Worker<Order, Result> {
  const child = fork(join(import.meta.dirname, module), { execArgv: ["--import", "tsx"] });
  const exited = once(child, "exit");
  return {
    async run(order) {
      const message = once(child, "message");
      child.send(order as Serializable);
      const ended = exited.then(() => Promise.reject(new Error(`${module} exited unexpectedly`)));
      return ((await Promise.race([message, ended])) as [Result])[0];
    },
    async stop() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
