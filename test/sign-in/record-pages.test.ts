// The pages of one record, to which the links of assistants lead.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request as httpRequest } from "node:http";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { createBrowser } from "../fixtures/sign-in/browser.ts";
import { sendRequest, signIn, useSignInFixture } from "../fixtures/sign-in/fixture.ts";
import { ann, ben } from "../fixtures/sign-in/users.ts";
import type { Holder } from "../mcp/tools/set-up.ts";
import { call, holderOf } from "../mcp/tools/set-up.ts";

const fixture = useSignInFixture();
const html = "text/html";
const contactId = randomUUID();
const sessionId = randomUUID();
const contactPath = `/contacts/${contactId}`;
const sessionPath = `/sessions/${sessionId}`;
let holder: Holder;

beforeAll(async () => {
  holder = await holderOf(fixture());
  const { put } = holder;
  await put.contact({ id: contactId, full_name: "Ida <b>Vale</b>", memory: "Rows." });
  await put.session({
    id: sessionId,
    contact_id: contactId,
    title: "Harbour plan",
    session_date: "2026-03-02T09:30:00Z",
  });
  await put.transcript({ session_id: sessionId, transcript: "Ida: The quay\nis ready." });
  const type = "SESSION_NOTE_TYPE_USER_MANUAL";
  await put.sessionNotes({ session_id: sessionId, title: "Next", content: "Call the pilot.", position: 0, type });
});

const open = (path: string, cookie?: string, accept = html) =>
  sendRequest(fixture().base + path, { accept, ...(cookie !== undefined && { cookie }) });

test("the links of search and fetch open the record for its signed-in owner, without a script and uncached [MCP-52]", async () => {
  const { cookie } = await signIn(fixture(), ann);
  const { base } = fixture();
  const found = await call(holder, "search", { query: "harbour" });
  const fetched = await call(holder, "fetch", { id: `contact:${contactId}` });
  expect([found.structured.results[0].url, fetched.structured.url]).toEqual([base + sessionPath, base + contactPath]);
  const [session, contact] = [await open(sessionPath, cookie), await open(contactPath, cookie)];
  for (const page of [session, contact]) {
    expect([page.status, page.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(page.text).not.toContain("<script");
  }
  for (const text of ["Harbour plan", "2026-03-02 09:30 UTC", "The quay\nis ready.", "Call the pilot."])
    expect(session.text).toContain(text);
  expect(session.text).toContain(`<a href="${contactPath}">Ida &lt;b&gt;Vale&lt;/b&gt;</a>`);
  expect(contact.text).toContain("Ida &lt;b&gt;Vale&lt;/b&gt;");
  expect(contact.text).toContain(`<a href="${sessionPath}">Harbour plan</a>`);
  expect(contact.text).toContain("Rows.");
});

test("nobody else sees a record: not another user, not a key or a token, not an unknown browser [MCP-52, ISO-01]", async () => {
  const { cookie } = await signIn(fixture(), ben);
  const unknown = await open(`/contacts/${randomUUID()}`, cookie);
  const foreign = await open(contactPath, cookie);
  expect([unknown.status, foreign.status]).toEqual([404, 404]);
  const without = ({ text }: { readonly text: string }): string => text.replaceAll(/[0-9a-f-]{36}/g, "");
  expect(without(foreign)).toBe(without(unknown));
  for (const path of [contactPath, sessionPath]) {
    expect((await open(path)).status).toBe(401);
    for (const credential of [holder.key, holder.token]) {
      const headers = { Authorization: `Bearer ${credential}` };
      expect((await sendRequest(fixture().base + path, { headers })).body.error.reason).toBe("NOT_SIGNED_IN");
    }
  }
});

test("a signed-out user returns to the record after the sign-in, and to no other place [MCP-52]", async () => {
  const { base } = fixture();
  const browser = createBrowser();
  const page = await browser.open(base + sessionPath);
  const [, link = ""] = /href="(\/sign-in\?to=[^"]+)"/.exec(page.text) ?? [];
  const form = await browser.open(base + link);
  const after = await browser.submit(form, { login: ann.email, password: ann.password }, "Sign in");
  expect([after.url.href, after.status]).toEqual([base + sessionPath, 200]);
  const elsewhere = createBrowser();
  const other = await elsewhere.open(`${base}/sign-in?to=//example.com`);
  const home = await elsewhere.submit(other, { login: ann.email, password: ann.password }, "Sign in");
  expect(home.url.href).toBe(`${base}/`);
});

test("a page shows a whole long transcript, and few such pages are sent to one account at a time [MCP-52, OPS-70]", async () => {
  const { base, service } = fixture();
  const { cookie } = await signIn(fixture(), ann);
  const id = randomUUID();
  // The pieces in which it is escaped have an odd length, so that one ends within an emoji.
  const transcript = `.${"<b>😀</b> & 'so' \u202eon ".repeat(60_000)}`;
  await holder.put.session({ id, contact_id: contactId, title: "Long" });
  await holder.put.transcript({ session_id: id, transcript });
  const { status, headers, text } = await open(`/sessions/${id}`, cookie);
  expect([status, headers.get("content-length")]).toEqual([200, String(Buffer.byteLength(text))]);
  const shown = /<p class="record-text" dir="auto">(\..*)<\/p>/s.exec(text)?.[1] ?? "";
  expect(shown === `.${"&lt;b&gt;😀&lt;/b&gt; &amp; &#39;so&#39; on ".repeat(60_000)}`).toBe(true);
  const unread = Array.from({ length: 8 }, () =>
    httpRequest(`${base}/sessions/${id}`, { headers: { cookie, accept: html } }).end(),
  );
  onTestFinished(() => unread.forEach((request) => request.destroy()));
  const responses = unread.map(async (request) => ((await once(request, "response")) as [IncomingMessage])[0]);
  const statuses = (await Promise.all(responses)).map(({ statusCode }) => statusCode);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  expect(service.logLines.join("\n")).toContain("large responses");
});

test("a sign-out in another browser ends the pages [DSH-08, MCP-52]", async () => {
  const [one, other] = [await signIn(fixture(), ann), await signIn(fixture(), ann)];
  expect((await open(contactPath, one.cookie)).status).toBe(200);
  const { base: origin } = fixture();
  await sendRequest(`${origin}/sign-out`, { method: "POST", cookie: other.cookie, origin });
  expect((await open(contactPath, one.cookie)).status).toBe(401);
});

test("the pages are off with the public interface, and their log line names no record [ADM-01, MCP-52]", async () => {
  const { service } = fixture();
  const { cookie } = await signIn(fixture(), ann);
  const set = (enabled: boolean) =>
    service.internalCall("records.admin.v1.InterfaceService/SetPublicInterface", { enabled, reason: "test" });
  await set(false);
  onTestFinished(async () => void (await set(true)));
  await expect.poll(async () => (await open(sessionPath, cookie)).status, { timeout: 5_000 }).toBe(503);
  expect(service.logLines.join("\n")).toContain("/sessions/{id}");
});

test("the owner of a suspended account sees that in place of a record, and a program its reason [DSH-11, MCP-52]", async () => {
  const { service } = fixture();
  const { cookie } = await signIn(fixture(), ann);
  const change = (rpc: string) =>
    service.internalCall(`records.admin.v1.AccountService/${rpc}`, { account_id: holder.accountId, reason: "test" });
  await change("SuspendAccount");
  onTestFinished(async () => void (await change("ResumeAccount")));
  const page = await open(contactPath, cookie);
  expect([page.status, page.text.includes("Account suspended"), page.text.includes("Vale")]).toEqual([
    403,
    true,
    false,
  ]);
  expect((await open(contactPath, cookie, "application/json")).body.error.reason).toBe("ACCOUNT_SUSPENDED");
});
