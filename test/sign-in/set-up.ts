// A service whose people sign in at a development provider, and what their browsers send.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UUID } from "mongodb";
import { afterAll, beforeAll } from "vitest";
import type { DevelopmentProvider, Person } from "../../src/embedded/provider/provider.ts";
import { startProvider } from "../../src/embedded/provider/provider.ts";
import type { Browser, Page } from "../embedded/provider/browser.ts";
import { createBrowser } from "../embedded/provider/browser.ts";
import type { RestAnswer, TestService } from "../support/service.ts";
import { startService } from "../support/service.ts";

/** Has an account that is enrolled. */
export const ann: Person = {
  subject: "person-ann",
  email: "ann@example.com",
  name: "Ann Example",
  password: "ann's secret",
};
/** Has an account that is not enrolled. */
export const ben: Person = {
  subject: "person-ben",
  email: "ben@example.com",
  name: "Ben Example",
  password: "ben's secret",
};
/** Has no account. */
export const cleo: Person = {
  subject: "person-cleo",
  email: "cleo@example.com",
  name: "Cleo Example",
  password: "cleo's secret",
};

/** A provider, and a service that signs people in there. */
export interface House {
  readonly provider: DevelopmentProvider;
  readonly service: TestService;
  /** What the outside calls the service: `http://localhost:<port>`. */
  readonly base: string;
}

/** Starts both before the tests of the file and stops them after. */
export function useHouse(environment: Record<string, string> = {}): () => House {
  let house: House;
  const dataDir = mkdtempSync(join(tmpdir(), "records-sign-in-"));
  beforeAll(async () => {
    const provider = await startProvider({ dataDir, people: [ann, ben, cleo] });
    const { issuer, client } = provider;
    const service = await startService({
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: client.id,
      OIDC_CLIENT_SECRET: client.secret,
      ...environment,
    });
    const base = service.app.baseUrl;
    provider.serve({ baseUrl: base, mcpUrl: `${base}/mcp` });
    await newOwner(service, issuer, ann.subject, ann.email, true);
    await newOwner(service, issuer, ben.subject, ben.email, false);
    house = { provider, service, base };
  });
  afterAll(async () => {
    await house.service.stop();
    await house.provider.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return () => house;
}

/** Creates an account that an identity is linked to, past the interface. */
export async function newOwner(
  service: TestService,
  issuer: string,
  subject: string,
  email: string,
  enrolled = true,
): Promise<UUID> {
  const { accounts } = service.app.services;
  const { _id } = await accounts.create(email, enrolled);
  await accounts.link(_id, { issuer, subject });
  return _id;
}

/** What a request may have. */
export interface Asked {
  readonly method?: string;
  readonly cookie?: string;
  readonly origin?: string;
  readonly accept?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | URLSearchParams;
}

/** One request, whose redirect is told and not followed. */
export async function ask(
  url: string | URL,
  { method, cookie, origin, accept, headers, body }: Asked = {},
): Promise<RestAnswer> {
  const response = await fetch(url, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    redirect: "manual",
    headers: {
      ...(cookie === undefined ? {} : { Cookie: cookie }),
      ...(origin === undefined ? {} : { Origin: origin }),
      ...(accept === undefined ? {} : { Accept: accept }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: /^\{/.test(text) ? JSON.parse(text) : undefined,
  };
}

/** The whole way in; the browser ends on the page of the person. */
export async function signIn(
  { base }: House,
  person: Person,
  browser: Browser = createBrowser(),
): Promise<{ browser: Browser; page: Page; cookie: string }> {
  const form = await browser.open(`${base}/sign-in`);
  const page = form.text.includes('name="password"')
    ? await browser.submit(form, { login: person.email, password: person.password }, "Sign in")
    : form;
  return { browser, page, cookie: browser.cookiesFor(base) };
}

/** A sign-in up to where the provider sends the browser back; the cookie is the one of the sign-in. */
export async function almostIn({ base }: House, person: Person): Promise<{ back: URL; cookie: string }> {
  const browser = createBrowser([`${base}/sign-in/callback`]);
  const form = await browser.open(`${base}/sign-in`);
  const { url } = await browser.submit(form, { login: person.email, password: person.password }, "Sign in");
  return { back: url, cookie: browser.cookiesFor(base) };
}

/** A sign-in's beginning: the answer, where it leads, and the cookie as a browser would send it. */
export async function begin(
  base: string,
  asked: Asked = {},
): Promise<{ answer: RestAnswer; leadsTo: URL; cookie: string; line: string }> {
  const answer = await ask(`${base}/sign-in`, asked);
  const [line = ""] = answer.headers.getSetCookie();
  return {
    answer,
    leadsTo: new URL(answer.headers.get("location") ?? "none:"),
    cookie: line.split(";")[0] ?? "",
    line,
  };
}

/** The session cookie that an answer sets, as a browser would send it. */
export function sessionOf({ headers }: RestAnswer): string {
  const line = headers.getSetCookie().find((one) => /^(__Host-)?records_session=[^;]/.test(one)) ?? "";
  return line.split(";")[0] ?? "";
}

/** The sessions that are kept. */
export function sessionCount({ app }: TestService, filter: Record<string, unknown> = {}): Promise<number> {
  return app.client.db().collection("dashboard_sessions").countDocuments(filter);
}

/** An account's audit log, the newest entry first, without ids and times. */
export async function auditOf(base: string, cookie: string): Promise<Record<string, unknown>[]> {
  const { body } = await ask(`${base}/v1/audit-log`, { cookie });
  return (body?.data ?? []).map(({ id: _id, created_at: _at, ...entry }: Record<string, unknown>) => entry);
}

/** The status of what only a signed-in owner may read. */
export async function ownerStatus(base: string, cookie: string): Promise<number> {
  return (await ask(`${base}/v1/audit-log`, { cookie })).status;
}
