// Signs a user in for `records token` by the authorization code flow with PKCE and a loopback redirect (RFC 8252).
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
} from "@modelcontextprotocol/client";
import { auth } from "@modelcontextprotocol/client";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { boundedFetch } from "../sign-in/bounded-fetch.ts";
import { CommandError, exitCodes } from "./exit.ts";

/** Options of a sign-in. */
export interface TokenOptions {
  readonly mcpUrl: string;
  /** The id of a client at the provider; undefined to register a new one. */
  readonly clientId: string | undefined;
  readonly opensBrowser: boolean;
  /** Prompts the user to do something. */
  readonly prompt: (line: string) => void;
}

/** An access token and its lifetime in seconds. */
export interface AccessToken {
  readonly token: string;
  readonly expiresIn: number | undefined;
}

const patienceMs = 600_000;
const requestMs = 10_000;
const callbackPath = "/callback";

/**
 * Signs a user in and returns an access token. Fails with a CommandError that says which step of the provider or the
 * user failed.
 */
export async function getToken({ mcpUrl, clientId, opensBrowser, prompt }: TokenOptions): Promise<AccessToken> {
  const callback = await listenForCallback(prompt);
  try {
    const flow = createFlow(callback, clientId);
    const options = { serverUrl: mcpUrl, fetchFn: timedFetch };
    await orSignInError(auth(flow.provider, options));
    const page = flow.page();
    prompt(`Sign in on this page: ${page.href}`);
    if (opensBrowser) openBrowser(page);
    const returned = await callback.returned;
    const error = returned.get("error");
    if (error !== null)
      throw failed(`The identity provider issued no token: ${returned.get("error_description") ?? error}.`);
    const [authorizationCode = "", iss] = [returned.get("code") ?? undefined, returned.get("iss") ?? undefined];
    await orSignInError(auth(flow.provider, { ...options, authorizationCode, ...(iss !== undefined && { iss }) }));
    return flow.token();
  } finally {
    callback.stop();
  }
}

/** The state of a sign-in between its steps. */
interface Held {
  client: StoredOAuthClientInformation | undefined;
  discovered?: OAuthDiscoveryState;
  verifier: string;
  page?: URL;
  token?: AccessToken;
}

/** Creates a sign-in in the form that the client library requires. */
function createFlow({ redirectUri, state }: Callback, clientId: string | undefined) {
  const held: Held = { client: clientId === undefined ? undefined : { client_id: clientId }, verifier: "" };
  const provider: OAuthClientProvider = {
    redirectUrl: redirectUri,
    clientMetadata: {
      client_name: "records token",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    },
    state: () => state,
    clientInformation: () => held.client,
    saveClientInformation(information) {
      held.client = information;
    },
    tokens: () => undefined,
    saveTokens({ access_token, expires_in }) {
      held.token = { token: access_token, expiresIn: expires_in };
    },
    redirectToAuthorization(url) {
      held.page = url;
    },
    saveCodeVerifier(text) {
      held.verifier = text;
    },
    codeVerifier: () => held.verifier,
    discoveryState: () => held.discovered,
    saveDiscoveryState(found) {
      held.discovered = found;
    },
  };
  return {
    provider,
    /** Returns the provider's sign-in page. Fails if there is none. */
    page(): URL {
      const { page } = held;
      if (page === undefined || !/^https?:$/.test(page.protocol))
        throw failed("The identity provider has no sign-in page.");
      return page;
    },
    token: (): AccessToken => held.token ?? notGiven(),
  };
}

function notGiven(): never {
  throw failed("The identity provider issued no token.");
}

/** The target of the provider's redirect. */
interface Callback {
  readonly redirectUri: string;
  readonly state: string;
  /** The query parameters of the redirect. */
  readonly returned: Promise<URLSearchParams>;
  stop(): void;
}

/** Listens on a free loopback port, and reads addresses that the user pastes. */
async function listenForCallback(prompt: TokenOptions["prompt"]): Promise<Callback> {
  const state = randomBytes(16).toString("base64url");
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}${callbackPath}`;
  const lines = createInterface({ input: process.stdin });
  let timer: NodeJS.Timeout | undefined;
  const returned = new Promise<URLSearchParams>((resolve, reject) => {
    timer = setTimeout(() => reject(failed("Nobody signed in within 10 minutes.")), patienceMs);
    const take = (text: string): boolean => {
      const url = URL.canParse(text, redirectUri) ? new URL(text, redirectUri) : undefined;
      // A redirect without our own state belongs to another sign-in.
      if (url?.pathname !== callbackPath || url.searchParams.get("state") !== state) return false;
      resolve(url.searchParams);
      return true;
    };
    server.on("request", (request, response) => {
      const isOurs = request.method === "GET" && take(request.url ?? "/");
      const said = isOurs
        ? "You can close this page and return to the terminal."
        : "This is not the result of a sign-in.";
      const headers = { "Content-Type": "text/plain; charset=utf-8", Connection: "close" };
      response.writeHead(isOurs ? 200 : 400, headers).end(`${said}\n`);
    });
    lines.on("line", (line) => {
      if (line.trim() !== "" && !take(line.trim())) prompt("That is not the address of the last page of the sign-in.");
    });
  });
  // If the sign-in fails earlier, nothing awaits this promise.
  returned.catch(() => undefined);
  return {
    redirectUri,
    state,
    returned,
    stop() {
      clearTimeout(timer);
      lines.close();
      process.stdin.destroy();
      server.close();
      server.closeIdleConnections();
    },
  };
}

/** Opens the page in the system's browser. Failures are ignored, because the user also has the address. */
function openBrowser({ href }: URL): void {
  const programs: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
    darwin: ["open"],
    win32: ["rundll32", "url.dll,FileProtocolHandler"],
  };
  const [program, ...first] = programs[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...first, href], { stdio: "ignore", detached: true });
  child.on("error", () => undefined);
  child.unref();
}

function timedFetch(url: string | URL, options: RequestInit = {}): Promise<Response> {
  return boundedFetch(String(url), { signal: AbortSignal.timeout(requestMs), ...options });
}

/** Converts an error of the client library into a CommandError. */
async function orSignInError<T>(step: Promise<T>): Promise<T> {
  return step.catch((error: unknown) => {
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? `${message} (${cause.message})` : message;
    throw failed(`The sign-in failed: ${why}`);
  });
}

function failed(message: string): CommandError {
  return new CommandError(exitCodes.failed, "sign_in", message);
}
