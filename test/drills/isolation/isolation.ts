// The isolation drill: two accounts with marked records. Each requests everything of the other on every wire, and
// nothing may leak.
import { setTimeout as sleep } from "node:timers/promises";
import { UUID } from "mongodb";
import { childToken } from "../../fixtures/service/child.ts";
import { startFakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import type { Control, Drill, Form, Report, Say } from "../drill.ts";
import type { Break } from "../fixture/broken.ts";
import { brokenControl } from "../fixture/broken.ts";
import type { Fixture } from "../../fixtures/service/fixture.ts";
import { withFixture } from "../../fixtures/service/fixture.ts";
import { assistantOperations } from "./assistant.ts";
import { probeIngest, without } from "./ingest.ts";
import type { Findings } from "./checker.ts";
import type { Operation, Where } from "./operations.ts";
import { rpcOperations, unknownRpcs } from "./operations.ts";
import type { User } from "./users.ts";
import { documentsOf, internalOf, newUser } from "./users.ts";
import type { Reach, Sides } from "./probe.ts";
import { claim, probe, probeHeaders, probeKey, probeOwn } from "./probe.ts";
import { closeConnections, send } from "./raw.ts";

/** What to check: everything, or one wire for a control. */
type Focus = "all" | "REST" | "MCP" | "ingest";

export const isolation: Drill = {
  name: "isolation",
  promise: "Nobody sees another account's records, or whether they exist, by any id, word or key on any wire",
  run: (form, say) => examine(form, say, "all"),
  controls: [
    control("a contact is read by its id alone", "REST", {
      from: "{ $match: { _id: id, account_id: scope.accountId } }, { $project: withoutTerms },",
      to: "{ $match: { _id: id } }, { $project: withoutTerms },",
    }),
    control("a contact is deleted by its id alone", "ingest", {
      from: "removeFound(contacts, scope, { _id: { $in: ids } }, options)",
      to: "contacts.deleteMany({ _id: { $in: [...ids] } }, options).then(() => [...ids])",
    }),
    control("every assistant is treated as the first one", "MCP", {
      from: "const holder = (inbound: Inbound): Reader => entered.get(inbound)",
      to: "let first: Reader | undefined; const holder = (inbound: Inbound): Reader => first ??= entered.get(inbound)",
    }),
    control("the 404 of another account's contact says so", "REST", {
      from: "return rows === undefined ? undefined : contactMessage(",
      to: 'if (rows === undefined && (await contacts.findOne({ _id: id })) !== null) fail(Reason.NOT_FOUND, { message: "It is another\'s." });\n      return rows === undefined ? undefined : contactMessage(',
    }),
  ],
};

function control(broken: string, focus: Focus, change: Break): Control {
  return brokenControl(broken, [change], (build, say) => examine("short", say, focus, build));
}

async function examine(
  form: Form,
  say: Say,
  focus: Focus,
  build: Readonly<Record<string, string>> = {},
): Promise<Report> {
  const fake = await startFakeProvider();
  try {
    return await withFixture(
      { members: 1, instances: 1, environment: { ...fake.settings(), ...build } },
      async (fixture) => {
        const years = [
          { past: 1941, future: 2041 },
          { past: 1931, future: 2031 },
          { past: 1921, future: 2021 },
        ] as const;
        const [own, other, reader] = await Promise.all([
          newUser(fixture, fake, "read_write", years[0]),
          newUser(fixture, fake, "read_write", years[1]),
          newUser(fixture, fake, "read_only", years[2]),
        ]);
        return check(fixture, { own, other, reader }, form, focus, say);
      },
    );
  } finally {
    closeConnections();
    await fake.stop();
  }
}

interface Users extends Sides {
  readonly reader: User;
}

async function check(
  fixture: Fixture,
  { own, other, reader }: Users,
  form: Form,
  focus: Focus,
  say: Say,
): Promise<Report> {
  const findings: Findings = { violations: [], requests: 0 };
  const base = fixture.instances[0]?.base ?? "";
  const where: Where = { base, origin: base.replace("127.0.0.1", "localhost"), internal: internalOf(fixture) };
  const operations = [...rpcOperations(where), ...(await assistantOperations(where, own))].filter(
    ({ wire }) => focus === "all" || wire === focus,
  );
  const reads = operations.filter(({ writes }) => !writes);
  const records = reads.filter(({ shows }) => shows);
  const sides: Sides = { own, other };
  const mirrored: Sides = { own: other, other: own };
  findings.violations.push(...unknownRpcs());

  // Each account performs every operation once, so that caches and stores have data of both.
  for (const side of [sides, mirrored]) await byWire(reads, (operation) => probeOwn(operation, side, findings));
  const claimed = await Promise.all(
    operations
      .filter(({ idempotent }) => idempotent)
      .map(async (operation) => ({ operation, claim: await claim(operation, mirrored, findings) })),
  );
  if (form === "long") await byWire(records, (operation) => probe(operation, mirrored, "some", findings));
  // The audit log is written in the background.
  await sleep(500);
  const before = await documentsOf(fixture, other);
  say(
    `${before.size} documents of the other account; ${operations.length} operations: ${[...new Set(operations.map(({ wire }) => wire))].join(", ")}`,
  );

  // The first violation is enough for a control.
  const enough = (): boolean => focus !== "all" && findings.violations.length > 0;
  const reach = (operation: Operation): Reach => (form === "long" ? "two" : operation.wire === "REST" ? "all" : "some");
  // These run alone, because concurrent requests would change the audit log.
  for (const operation of reads.filter(({ shows }) => !shows)) await probe(operation, sides, "all", findings);
  await byWire(records, (operation) => probe(operation, sides, reach(operation), findings), enough);
  if (enough()) return { figures: { requests: findings.requests }, violations: findings.violations };
  await byWire(
    records.filter(({ wire }) => wire !== "the internal listener"),
    (operation) => probeHeaders(operation, sides, findings),
  );
  // With a read-only key, writes must be rejected without revealing anything.
  await byWire(
    operations.filter(
      ({ wire, writes }) =>
        wire !== "MCP" && wire !== "the internal listener" && (form === "long" || (writes && wire === "REST")),
    ),
    (operation) => probe(operation, { own: reader, other }, "some", findings),
  );
  say(`${findings.requests} read requests`);

  const inside = focus === "all" || focus === "ingest";
  if (inside) {
    const said = await probeIngest(where.internal, own, other, false, findings);
    for (const [name, text] of await documentsOf(fixture, own))
      if (without(text, said).includes(other.mark))
        findings.violations.push(`one's own ${name} contains words of another account`);
  }
  // An email is unique within an account, so the comparison releases it.
  const contacts = fixture.client.db().collection("contacts");
  const releaseEmail = (): Promise<unknown> =>
    contacts.updateMany(
      { account_id: UUID.createFromHexString(own.accountId), email_key: other.email },
      { $set: { email: null }, $unset: { email_key: 1 } },
    );
  for (const operation of operations.filter(({ writes }) => writes))
    await probe(operation, sides, form === "long" ? "all" : reach(operation), findings, releaseEmail);
  for (const { operation, claim } of claimed) await probeKey(operation, claim, sides, findings);
  if (inside) await probeIngest(where.internal, own, other, true, findings);
  same("requests of another account", before, await documentsOf(fixture, other), findings);
  say(`${findings.requests} requests`);

  const figures = {
    requests: findings.requests,
    "documents of the other account": before.size,
    operations: operations.length,
  };
  if (focus !== "all") return { figures, violations: findings.violations };
  const erased = await send(
    where.internal,
    "POST",
    "/records.admin.v1.AccountService/DeleteAccount",
    { "content-type": "application/json", authorization: `Bearer ${childToken}` },
    JSON.stringify({ account_id: own.accountId }),
  );
  if (erased.status !== 200) findings.violations.push(`DeleteAccount got ${erased.status}`);
  same("the erasure of another account", before, await documentsOf(fixture, other), findings);
  return { figures, violations: findings.violations };
}

/** Runs all wires in parallel and the operations of each in sequence, until there are enough violations. */
async function byWire(
  operations: readonly Operation[],
  work: (operation: Operation) => Promise<void>,
  enough = (): boolean => false,
): Promise<void> {
  const wires = [...new Set(operations.map(({ wire }) => wire))];
  await Promise.all(
    wires.map(async (wire) => {
      for (const operation of operations.filter((one) => one.wire === wire)) {
        if (enough()) return;
        await work(operation);
      }
    }),
  );
}

function same(
  what: string,
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
  findings: Findings,
): void {
  for (const name of new Set([...before.keys(), ...after.keys()]))
    if (before.get(name) !== after.get(name))
      findings.violations.push(
        `${what} changed ${name}: ${before.get(name) ?? "absent"} → ${after.get(name) ?? "gone"}`,
      );
}
