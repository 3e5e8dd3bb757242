// The sign-out drill: a user signs out in one browser while assistants call and refresh. The service must reject all
// their tokens.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { childToken } from "../../fixtures/service/child.ts";
import { accessToken, offerIntrospection, statusOf } from "../../fixtures/sign-in/assistants.ts";
import type { FakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { enter, seconds, startFakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { ownerStatus, sendRequest } from "../../fixtures/sign-in/fixture.ts";
import { ingestInto } from "../../fixtures/clients/ingest.ts";
import { rest } from "../../fixtures/service/service.ts";
import type { Control, Drill, Form, Report, Say } from "../drill.ts";
import type { Break } from "../fixture/broken.ts";
import { brokenControl } from "../fixture/broken.ts";
import type { Fixture } from "../../fixtures/service/fixture.ts";
import { withFixture } from "../../fixtures/service/fixture.ts";
import type { Assistant } from "./assistant.ts";
import { startAssistant } from "./assistant.ts";

/**
 * The number of rounds, each with and without introspection, and the calls of each assistant before and after the
 * sign-out.
 */
const sizes = { long: { rounds: 3, before: 20, after: 70 }, short: { rounds: 1, before: 6, after: 12 } } as const;
const instances = 3;
/** A call takes milliseconds. A longer wait means that something hangs. */
const patienceMs = 120_000;

export const signOut: Drill = {
  name: "sign-out",
  promise: [
    "A sign-out in one browser ends every session and token of the user: refreshed tokens are rejected,",
    "but a new sign-in is accepted",
  ].join(" "),
  run: (form, say) => examine(form, say),
  controls: [
    control(
      "a token with a session is checked by its issue time",
      {
        from: 'const authenticatedAt = number(claims["auth_time"])',
        to: 'const authenticatedAt = number(claims["sid"] === undefined ? claims["auth_time"] : claims.iat)',
      },
      {
        from: 'if (ends.some(({ _id }) => !("subject" in _id))) return { kind: "session" };',
        to: "",
      },
    ),
    control("a sign-out only ends that browser's session", {
      from: 'ending({ issuer, subject }, { $max: [{ $add: ["$$NOW", aheadMs] }, new Date(latest * 1_000)] }, fence),\n          ',
      to: "",
    }),
  ],
};

function control(broken: string, ...breaks: readonly Break[]): Control {
  return brokenControl(broken, breaks, (build, say) => examine("short", say, build));
}

interface Seen {
  readonly violations: string[];
  before: number;
  after: number;
  afterWithRefreshed: number;
}

async function examine(form: Form, say: Say, build: Readonly<Record<string, string>> = {}): Promise<Report> {
  const seen: Seen = { violations: [], before: 0, after: 0, afterWithRefreshed: 0 };
  // One variant is enough for a control.
  for (const introspects of build["CHANGED_SOURCES"] === undefined ? [true, false] : [false]) {
    const fake = await startFakeProvider();
    try {
      if (introspects) offerIntrospection(fake, () => ({ active: true }));
      await withFixture({ members: 1, instances, environment: { ...fake.settings(), ...build } }, async (fixture) => {
        for (let at = 0; at < sizes[form].rounds; at++) await round(fixture, fake, sizes[form], seen);
      });
    } finally {
      await fake.stop();
    }
    say(`${introspects ? "with" : "without"} introspection: ${seen.after} calls after a sign-out so far`);
  }
  const figures = {
    "calls before a sign-out": seen.before,
    "calls after a sign-out": seen.after,
    "of them with a refreshed token": seen.afterWithRefreshed,
  };
  return { figures, violations: seen.violations };
}

async function round(
  fixture: Fixture,
  fake: FakeProvider,
  { before, after }: { readonly before: number; readonly after: number },
  seen: Seen,
): Promise<void> {
  const subject = randomUUID();
  const mark = `marked ${randomUUID()}`;
  await newUser(fixture, fake, subject, mark);
  const bases = fixture.instances.map(({ base }) => base.replace("127.0.0.1", "localhost"));
  const [first = ""] = bases;
  const [here, elsewhere] = [
    { sid: randomUUID(), signedInAt: seconds() - 50 },
    { sid: randomUUID(), signedInAt: seconds() - 20 },
  ];
  const signIn = (base: string, { sid, signedInAt }: typeof here): Promise<{ cookie: string }> =>
    enter(base, fake, { sub: subject, sid, auth_time: signedInAt });
  const [browser, other] = [await signIn(first, here), await signIn(bases[1] ?? first, elsewhere)];
  const grants = [
    { ...here, subject },
    { ...elsewhere, subject },
    { sid: undefined, signedInAt: elsewhere.signedInAt, subject },
  ];
  const assistants = grants.map((grant) => startAssistant(fake, bases, grant, mark));
  try {
    await until(assistants, ({ calls }) => calls.length >= before);
    for (const { calls } of assistants)
      if (!calls.slice(0, before).every(({ hasData }) => hasData))
        seen.violations.push(
          `an assistant was not served before the sign-out: ${calls.map(({ status }) => status).join(" ")}`,
        );
    if ((await ownerStatus(first, other.cookie)) !== 200) seen.violations.push("the other browser was not signed in");

    const { status } = await sendRequest(`${first}/sign-out`, {
      method: "POST",
      cookie: browser.cookie,
      origin: first,
    });
    const signedOutAt = performance.now();
    if (status !== 303) seen.violations.push(`signing out got ${status}`);
    await until(assistants, ({ calls }) => calls.filter(({ sentAt }) => sentAt >= signedOutAt).length >= after);
    await Promise.all(assistants.map((assistant) => assistant.stop()));
    for (const { calls } of assistants) {
      const later = calls.filter(({ sentAt }) => sentAt >= signedOutAt);
      seen.before += calls.length - later.length;
      seen.after += later.length;
      seen.afterWithRefreshed += later.filter(({ refreshed }) => refreshed).length;
      const served = later.filter(({ status: received, hasData }) => hasData || received !== 401);
      if (served.length > 0)
        seen.violations.push(
          `${served.length} of ${later.length} calls of an assistant after the sign-out were not 401`,
        );
    }
    for (const base of bases) {
      for (const cookie of [browser.cookie, other.cookie])
        if ((await ownerStatus(base, cookie)) !== 401)
          seen.violations.push("a dashboard session outlived the sign-out");
    }
    await checkNewSignIn(fake, bases, subject, seen);
  } finally {
    await Promise.all(assistants.map((assistant) => assistant.stop()));
  }
}

/** Checks that every instance accepts a new sign-in. */
async function checkNewSignIn(
  fake: FakeProvider,
  bases: readonly string[],
  subject: string,
  { violations }: Seen,
): Promise<void> {
  const again = { sub: subject, sid: randomUUID(), auth_time: seconds() + 4 };
  const { response, cookie } = await enter(bases[0] ?? "", fake, again);
  if (response.status !== 303 || cookie === "") violations.push(`signing in again got ${response.status}`);
  const token = await accessToken(fake, again);
  for (const base of bases) {
    const statuses = [await ownerStatus(base, cookie), await statusOf(base, token)];
    if (statuses.some((status) => status !== 200))
      violations.push(`the dashboard and an assistant got ${statuses.join(" and ")} after signing in again`);
  }
}

async function newUser(
  { services, instances: [one] }: Fixture,
  fake: FakeProvider,
  subject: string,
  mark: string,
): Promise<void> {
  const { _id } = await services.accounts.create(`${subject}@example.com`, true);
  await services.accounts.link(_id, { issuer: fake.issuer, subject });
  const internalCall = (rpc: string, body: unknown): ReturnType<typeof rest> =>
    rest(`http://127.0.0.1:${one?.internalPort ?? 0}`, `/${rpc}`, { key: childToken, body });
  await ingestInto({ internalCall }, _id.toHexString()).session({ title: mark, session_date: "2026-03-02T09:00:00Z" });
}

async function until(assistants: readonly Assistant[], isDone: (assistant: Assistant) => boolean): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!assistants.every(isDone)) {
    if (performance.now() > end) throw new Error("the assistants are stuck");
    await sleep(20);
  }
}
