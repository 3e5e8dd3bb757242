// The dashboard on the public listener: its page, its files, sign-in and sign-out.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import type { Usage } from "../accounts/usage.ts";
import type { Contact, ContactService } from "../gen/records/v1/contacts_pb.ts";
import { GetContactRequestSchema } from "../gen/records/v1/contacts_pb.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { HealthStatus } from "../gen/records/v1/health_pb.ts";
import type { SessionDetail, SessionService } from "../gen/records/v1/sessions_pb.ts";
import { GetSessionRequestSchema, GetSessionTranscriptRequestSchema } from "../gen/records/v1/sessions_pb.ts";
import { writeFailureAndClose } from "../http/linger.ts";
import { writeBody, writeFailure } from "../http/response.ts";
import type { Deadline } from "../call/deadline.ts";
import type { Scope } from "../call/scope.ts";
import { findDeflated, inflateResponseText } from "../large/deflated.ts";
import { encodeInPieces } from "../large/pieces.ts";
import { requireBytes } from "../large/sending.ts";
import { hugeBytes, requireSlotForHuge } from "../large/slots.ts";
import type { Html } from "../text/html.ts";
import type { AccountService } from "../rpc/routes.ts";
import { deadlineIn, deadlineMs, withDeadline } from "../call/deadline.ts";
import { Failure, fail } from "../call/errors.ts";
import { mongoFailureOf } from "../db/mongo.ts";
import type { EnterLogout } from "../guards/logout.ts";
import type { SessionGuard } from "../guards/session.ts";
import type { Request, Response, Surface } from "../call/exchange.ts";
import { namesType } from "../call/negotiation.ts";
import { acceptMethod, sendFile, staticFile } from "../http/static-files.ts";
import type { Inbound, OnError } from "../call/dispatch.ts";
import type { Logout } from "../sign-in/logout-token.ts";
import type { DashboardUser, SignIn, Redirect } from "../sign-in/sign-in.ts";
import { callbackPath, sessionEndedPath } from "../sign-in/sign-in.ts";
import { accountPage } from "./account-page.ts";
import type { Page, User } from "./layout.ts";
import { layOut } from "./layout.ts";
import { noAccountPage, problemPage, signedOutPage, signInOffPage, statusPage, suspendedPage } from "./message-page.ts";
import { contactPage, sessionPage } from "./record-page.ts";
import type { StaticFile } from "../http/static-files.ts";
import { packageRoot } from "../process/root.ts";
import { receiveBytes } from "../http/body.ts";

/** The dashboard surface. */
export interface Dashboard extends Surface {
  /** Responds to a failed request, with a page for a browser and the envelope for a program. */
  rejectRequest(request: Request, response: Response, inbound: Inbound, failure: Failure): void;
}

/** Dependencies of the dashboard. */
export interface DashboardDependencies {
  /** Undefined if there is no identity provider. Sign-in is then off, and the page reports it. */
  readonly signIn: SignIn | undefined;
  readonly enter: SessionGuard<DashboardUser>["enter"];
  readonly readRecords: SessionGuard<DashboardUser>["readRecords"];
  readonly enterLogout: EnterLogout<Logout>;
  /** The requests of accounts, which their owners see beside the limits. */
  readonly usage: Pick<Usage, "last">;
  readonly limits: { readonly rate: number; readonly burst: number };
  /** The services whose records the pages show. */
  readonly records: RecordServices;
  /** Returns whether the service works. */
  readonly health: () => HealthStatus;
  /** Throttles a request for a file of the page. Fails with RATE_LIMITED. */
  readonly throttleAsset: (inbound: Inbound) => Promise<void>;
  readonly baseUrl: () => string;
  readonly mcpUrl: () => string;
  /** Whether the public interface is switched off. Every page then shows it. */
  readonly interfaceOff: () => boolean;
  readonly onError: OnError;
}

/** Reads single records. */
export interface RecordServices {
  readonly contacts: Pick<AccountService<typeof ContactService>, "getContact">;
  readonly sessions: Pick<AccountService<typeof SessionService>, "getSession" | "getSessionTranscript">;
}

type GetUser = () => DashboardUser | undefined;

interface Exchange {
  readonly request: Request;
  readonly response: Response;
  readonly inbound: Inbound;
  readonly deadline: Deadline;
  readonly user: GetUser;
  /** The value of the route's form field; undefined if the body has none or is too large, or is not received yet. */
  readonly sent: string | undefined;
  /** Receives that value. Only a route that throttles itself calls it. */
  readonly receive: () => Promise<string | undefined>;
}

interface Route {
  readonly method: "GET" | "POST";
  /** The form field that the route reads. Its body is received before the request takes a slot. */
  readonly field?: string;
  /** True if `serve` throttles a request of this method itself. */
  readonly isThrottled?: true;
  serve(exchange: Exchange): Promise<void>;
}

/** Creates the surface, which keeps no state between requests. */
export function createDashboard(dependencies: DashboardDependencies): Dashboard {
  const { signIn, enter, throttleAsset, health, interfaceOff, onError } = dependencies;
  const assets = readAssets();
  const routes = createRoutes(dependencies);

  function rejectRequest(request: Request, response: Response, inbound: Inbound, failure: Failure): void {
    onError(failure, inbound);
    if (response.headersSent) return;
    const { kind, message, reason, retryAfterSeconds, allow } = failure;
    // The rest of the body may never come, and no other request can follow it.
    if (reason === Reason.REQUEST_TIMEOUT) return writeFailureAndClose(request, response, failure);
    request.resume();
    if (!wantsPage(inbound)) return writeFailure(response, failure);
    if (retryAfterSeconds !== undefined) response.setHeader("Retry-After", retryAfterSeconds);
    if (allow !== undefined) response.setHeader("Allow", allow);
    const { requestId } = inbound;
    const page = problemPage({ status: kind.http, message, requestId, retry: signIn !== undefined });
    sendPage(response, kind.http, layOut(page, interfaceOff()));
  }

  return {
    serves: (path) => Object.hasOwn(routes, path) || assets.has(path) || path === statusPath || recordPath.test(path),
    routeOf: (path) => path.replace(recordPath, "/$1s/{id}"),
    async handle(path, request, response, inbound) {
      const deadline = deadlineIn(deadlineMs, {}, inbound.tally);
      const exchange = { request, response, inbound, deadline };
      try {
        const asset = assets.get(path);
        if (asset !== undefined) {
          await throttleAsset(inbound);
          return acceptMethod(request, response) ? await sendFile(request, response, asset) : undefined;
        }
        if (path === statusPath) {
          // Neither the session nor any other record is read, so that the page is there while the databases are not.
          await throttleAsset(inbound);
          if (acceptMethod(request, response)) sendPage(response, 200, layOut(statusPage(health()), false));
          return;
        }
        const { method, field, isThrottled, serve }: Route =
          routes[path] ?? (recordPath.test(path) ? recordRoute(dependencies, path) : fail(Reason.UNKNOWN_PATH));
        const receive = async (): Promise<string | undefined> =>
          field !== undefined && request.method === method
            ? withDeadline(deadline, formValue(request, field))
            : undefined;
        const nothing = { sent: undefined, user: () => undefined };
        if (isThrottled && request.method === method)
          return await withDeadline(deadline, serve({ ...exchange, ...nothing, receive }));
        await enter(inbound, deadline, receive, async (user, sent) => {
          if (acceptMethod(request, response, method))
            await withDeadline(deadline, serve({ ...exchange, user, sent, receive }));
        });
      } catch (error) {
        rejectRequest(request, response, inbound, mongoFailureOf(error));
      }
    },
    rejectRequest,
  };
}

function createRoutes(dependencies: DashboardDependencies): Readonly<Record<string, Route>> {
  const { signIn, enterLogout, baseUrl } = dependencies;
  const available = (): SignIn =>
    signIn ??
    fail(Reason.UNAVAILABLE, {
      message: "Sign-in is off: the operator has not set an identity provider (OIDC_ISSUER).",
      because: "not configured",
    });
  return {
    "/": {
      method: "GET",
      async serve(exchange) {
        if (redirectToBaseUrl(baseUrl(), exchange)) return;
        const isSuspended = exchange.user()?.account?.suspended === true;
        if (isSuspended && !wantsPage(exchange.inbound)) fail(Reason.ACCOUNT_SUSPENDED);
        const page = await homePage(dependencies, exchange);
        const formActionOrigins = page.user === undefined ? [] : await signIn?.signOutOrigins();
        sendPage(
          exchange.response,
          isSuspended ? 403 : 200,
          layOut(page, dependencies.interfaceOff()),
          formActionOrigins,
        );
      },
    },
    "/sign-in": {
      method: "GET",
      async serve(exchange) {
        if (redirectToBaseUrl(baseUrl(), exchange)) return;
        const to = /[?]to=([/a-z0-9-]+)$/i.exec(exchange.request.url ?? "")?.[1];
        const isOurs = to !== undefined && recordPath.test(to);
        go(exchange.response, await available().begin(exchange.inbound.header("cookie"), isOurs ? to : undefined));
      },
    },
    [callbackPath]: {
      method: "GET",
      async serve({ request, response, inbound, deadline }) {
        const [, search = ""] = /^[^?]*(\?.*)?$/s.exec(request.url ?? "") ?? [];
        go(response, await available().complete(search, inbound.header("cookie"), { ...originOf(inbound), deadline }));
      },
    },
    "/sign-out": {
      method: "POST",
      field: "user",
      async serve({ response, inbound, deadline, sent }) {
        if (inbound.header("origin") !== new URL(baseUrl()).origin) fail(Reason.FOREIGN_ORIGIN);
        go(response, await available().end(inbound.header("cookie"), sent, { ...originOf(inbound), deadline }));
      },
    },
    "/sign-out/back-channel": {
      method: "POST",
      field: "logout_token",
      isThrottled: true,
      async serve({ response, inbound, deadline, receive }) {
        const verify = async (token: string): Promise<Logout> => available().readLogoutToken(token, inbound);
        await enterLogout(inbound, deadline, receive, verify, async (logout) => {
          await available().endByProvider(logout, { ...originOf(inbound), deadline });
          response.writeHead(200, { "Cache-Control": "no-store" }).end();
        });
      },
    },
  };
}

/** The page of a record of the signed-in user, to which the links of assistants lead. */
function recordRoute(dependencies: DashboardDependencies, path: string): Route {
  const { signIn, baseUrl, interfaceOff, readRecords, records } = dependencies;
  const [, kind, id = ""] = recordPath.exec(path) ?? [];
  return {
    method: "GET",
    async serve(exchange) {
      if (redirectToBaseUrl(baseUrl(), exchange)) return;
      const { response, inbound, deadline } = exchange;
      const found = signIn && exchange.user();
      if (found === undefined && !wantsPage(inbound)) fail(Reason.NOT_SIGNED_IN);
      if (found === undefined || (wantsPage(inbound) && found.account?.suspended !== false)) {
        const home = await homePage(dependencies, exchange, path);
        return sendPage(response, found === undefined ? 401 : 403, layOut(home, interfaceOff()));
      }
      const formActionOrigins = await signIn?.signOutOrigins();
      const shown = await readRecords(
        inbound,
        deadline,
        found,
        (scope): Promise<ShownRecord> =>
          kind === "contact" ? readContact(records, id, scope) : readSession(records, id, scope),
      );
      const user = userOf(found);
      const page =
        "contact" in shown ? contactPage(user, shown.contact) : sessionPage(user, shown.session, shown.transcript);
      await sendRecord(exchange, await encodeInPieces(layOut(page, false).parts()), formActionOrigins);
    },
  };
}

type ShownRecord =
  | { readonly contact: Contact }
  | { readonly session: SessionDetail; readonly transcript: string | undefined };

async function readContact({ contacts }: RecordServices, contactId: string, scope: Scope): Promise<ShownRecord> {
  const { contact } = await contacts.getContact(create(GetContactRequestSchema, { contactId }), scope);
  return { contact: contact ?? fail(Reason.NOT_FOUND) };
}

async function readSession({ sessions }: RecordServices, sessionId: string, scope: Scope): Promise<ShownRecord> {
  const [{ session }, said] = await Promise.all([
    sessions.getSession(create(GetSessionRequestSchema, { sessionId }), scope),
    sessions.getSessionTranscript(create(GetSessionTranscriptRequestSchema, { sessionId }), scope),
  ]);
  // A character takes up to six bytes as HTML.
  if ((findDeflated(said)?.text.size ?? 0) * 6 >= hugeBytes) requireSlotForHuge(scope.deadline?.tally);
  await inflateResponseText(said);
  const { transcript } = said.transcript ?? {};
  return { session: session ?? fail(Reason.NOT_FOUND), transcript };
}

/**
 * Whether a browser sends the request. A program gets the envelope of a failure. Java's client names HTML too, but no
 * browser opens an address with a bearer token.
 */
function wantsPage({ header }: Inbound): boolean {
  return header("authorization") === undefined && namesType(header("accept"), "text/html");
}

/** Returns the page of the user's state. A user who is not signed in returns from the sign-in to the path `to`. */
async function homePage(dependencies: DashboardDependencies, exchange: Exchange, to?: string): Promise<Page> {
  const { signIn, baseUrl, mcpUrl, usage, limits, onError } = dependencies;
  if (signIn === undefined) return signInOffPage();
  const found = exchange.user();
  if (found === undefined) return signedOutPage(exchange.request.url === sessionEndedPath, to);
  const { account, accountEmail } = found;
  const user = userOf(found);
  if (account === undefined || accountEmail === undefined)
    return noAccountPage(user, exchange.request.url === "/?again");
  const { betaEnrolled } = account;
  const id = account.id.toHexString();
  if (account.suspended === true) return suspendedPage(user, id, new Failure(Reason.ACCOUNT_SUSPENDED).message);
  const used = await usage.last(account.id, exchange.deadline).catch((error: unknown) => {
    // The rest of the page is of use without them.
    onError(mongoFailureOf(error), exchange.inbound);
    return undefined;
  });
  return accountPage({
    user,
    account: { id, email: accountEmail, betaEnrolled },
    baseUrl: baseUrl(),
    mcpUrl: mcpUrl(),
    usage: { used, ...limits },
  });
}

function userOf({ id, email, fullName: name, issuer, subject }: DashboardUser): User {
  return { id, email, name, issuer, subject };
}

/**
 * Redirects a browser that uses another name of this machine to the base URL, because cookies belong to one name.
 * Returns whether it did.
 */
function redirectToBaseUrl(baseUrl: string, { request, response }: Exchange): boolean {
  const here = `http://${request.headers.host ?? ""}`;
  if (!URL.canParse(here)) return false;
  const { hostname, port } = new URL(here);
  const ours = new URL(baseUrl);
  if (!names.has(hostname) || !names.has(ours.hostname) || hostname === ours.hostname || port !== ours.port)
    return false;
  go(response, { location: baseUrl + (request.url ?? "/"), cookies: [] });
  return true;
}

/**
 * Sends a page. `formActionOrigins` are the other origins to which a form may redirect, because browsers apply
 * `form-action` to redirects.
 */
function sendPage(response: Response, status: number, page: Html, formActionOrigins?: readonly string[]): void {
  const body = Buffer.from(page.toString());
  response.writeHead(status, headersOf(body.length, formActionOrigins)).end(body);
}

/** Sends a page of any size, as the API sends a large response. Fails with UNAVAILABLE if too much is being sent. */
async function sendRecord(
  { request, response, inbound }: Exchange,
  page: readonly Uint8Array[],
  formActionOrigins?: readonly string[],
): Promise<void> {
  const length = page.reduce((sum, piece) => sum + piece.length, 0);
  requireBytes(response, inbound.tally, length);
  response.writeHead(200, headersOf(length, formActionOrigins));
  await writeBody(request, response, page);
}

function headersOf(length: number, formActionOrigins: readonly string[] = []): Record<string, string | number> {
  const policy = [...policies, ["form-action 'self'", ...formActionOrigins].join(" ")].join("; ");
  return { ...pageHeaders, "Content-Security-Policy": policy, "Content-Length": length };
}

function originOf({ requestId, address }: Inbound): Pick<Inbound, "requestId" | "address"> {
  return { requestId, address };
}

/** The pages of records. */
const recordPath = /^\/(contact|session)s\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

const statusPath = "/status";

/** The names by which a browser reaches a server on this machine's loopback addresses. */
const names = new Set(["localhost", "127.0.0.1", "[::1]"]);

const policies = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
];

/** No page is cached, so that the back button shows nothing after a sign-out. */
const pageHeaders = {
  "Content-Type": "text/html; charset=utf-8",
  "Cache-Control": "no-store",
  // With a stricter policy, browsers would send `Origin: null` with the sign-out form.
  "Referrer-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
};

function go(response: Response, { location, cookies }: Redirect): void {
  if (cookies.length > 0) response.setHeader("Set-Cookie", [...cookies]);
  response.writeHead(303, { Location: location, "Cache-Control": "no-store" }).end();
}

const folder = join(packageRoot, "src/dashboard/page");

/** Reads all files. Throws if one cannot be read. */
function readAssets(): ReadonlyMap<string, StaticFile> {
  const modules = readdirSync(join(folder, "dashboard")).filter((name) => name.endsWith(".js"));
  const names = ["dashboard.css", "dashboard.js", "icon.svg", ...modules.map((name) => `dashboard/${name}`)];
  const assets = new Map(names.map((name) => [`/${name}`, staticFile(name, readFileSync(join(folder, name)))]));
  const icon = assets.get("/icon.svg");
  // Browsers request the icon by this name on pages without a link to it, such as the OpenAPI document.
  if (icon !== undefined) assets.set("/favicon.ico", icon);
  return assets;
}

/** The maximum size of a form in bytes. A logout token has 1 to 2 KB, and no other form is as large. */
const maxBytes = 16_384;
/** The maximum time in which a form arrives, in milliseconds: less than the deadline, to serve the request in time. */
const maxArrivalMs = 4_000;

/**
 * Returns the value of a field in an `application/x-www-form-urlencoded` body; undefined if it is missing or the body
 * is too large. Fails with REQUEST_TIMEOUT if the body does not arrive in time, and with CANCELLED if the client
 * disconnects.
 */
async function formValue(request: Request, name: string): Promise<string | undefined> {
  const received = await receiveBytes(request, maxBytes, undefined, maxArrivalMs);
  if (received === "gone") fail(Reason.CANCELLED);
  if (received === "too slow") fail(Reason.REQUEST_TIMEOUT);
  if (received !== "too large") return new URLSearchParams(received.toString()).get(name) ?? undefined;
  // Reads and discards the rest, because the connection's next request follows it.
  request.resume();
  return undefined;
}
