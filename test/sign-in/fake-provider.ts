// An OpenID Connect provider that a test has in its hand: what it says, which keys it has, and whether it is there at
// all.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { JWTPayload } from "jose";
import { SignJWT, exportJWK, generateKeyPair } from "jose";
import type { RestAnswer } from "../support/service.ts";
import { ask, begin, sessionOf } from "./set-up.ts";

export const clientId = "records";
export const clientSecret = "client-secret-of-the-tests-and-of-no-one-else";

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

type KeyPair = Awaited<ReturnType<typeof generateKeyPair>> & { readonly kid: string };

/** A provider without a single page: who signs in there is said in its ID token. */
export interface FakeProvider {
  readonly issuer: string;
  /** The paths that were asked for. */
  readonly asked: string[];
  readonly metadata: Record<string, unknown>;
  /** Answers a path in another way than usual; `*` every path. */
  readonly answers: Map<string, Answer>;
  /** What the token endpoint answers. */
  tokens: Record<string, unknown>;
  readonly key: KeyPair;
  /** From now on another key is the only one. */
  rotate(): Promise<void>;
  /** A token that is signed with the provider's key, unless another is given. */
  sign(claims: JWTPayload, header?: Record<string, unknown>, key?: Parameters<SignJWT["sign"]>[0]): Promise<string>;
  settings(): Record<string, string>;
  stop(): Promise<void>;
}

/** A pair of RSA keys. */
export async function newKey(kid: string): Promise<KeyPair> {
  return { ...(await generateKeyPair("RS256", { extractable: true })), kid };
}

export function json(value: unknown, status = 200): Answer {
  return (_request, response) =>
    void response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value));
}

/** The connection ends without an answer, as if nobody listened. */
export const away: Answer = (request) => void request.socket.destroy();
/** Nothing is ever said. */
export const silent: Answer = () => undefined;

export async function startFakeProvider(): Promise<FakeProvider> {
  const asked: string[] = [];
  const answers = new Map<string, Answer>();
  let key = await newKey("first");
  let rotations = 0;
  const server = createServer((request, response) => {
    const path = (request.url ?? "").split("?")[0] ?? "";
    asked.push(path);
    request.resume();
    (answers.get("*") ?? answers.get(path) ?? usual(path))(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const metadata: Record<string, unknown> = {
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
  };

  function usual(path: string): Answer {
    if (path === "/.well-known/openid-configuration") return json(metadata);
    if (path === "/jwks")
      return async (request, response) =>
        json({ keys: [{ ...(await exportJWK(key.publicKey)), kid: key.kid, alg: "RS256", use: "sig" }] })(
          request,
          response,
        );
    if (path === "/token") return json(provider.tokens);
    return json({ error: "not_found" }, 404);
  }

  const provider: FakeProvider = {
    issuer,
    asked,
    metadata,
    answers,
    tokens: {},
    get key() {
      return key;
    },
    async rotate() {
      key = await newKey(`rotated-${++rotations}`);
    },
    sign: (claims, header = {}, by = key.privateKey) =>
      new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: key.kid, ...header }).sign(by),
    settings: () => ({ OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret }),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return provider;
}

/** The claims of an ID token for our client. Its sign-in is later than any logout token so far. */
export function idClaims({ issuer }: FakeProvider, claims: JWTPayload = {}): JWTPayload {
  const now = Math.floor(Date.now() / 1000);
  return {
    iss: issuer,
    aud: clientId,
    sub: "person-dora",
    email: "dora@example.com",
    name: "Dora Example",
    iat: now,
    auth_time: now + 2,
    exp: now + 600,
    ...claims,
  };
}

/** A sign-in of the person whom the claims name; `token` replaces the ID token. */
export async function enter(
  base: string,
  fake: FakeProvider,
  claims: JWTPayload = {},
  token?: (nonce: string) => Promise<string>,
): Promise<{ answer: RestAnswer; cookie: string }> {
  const { leadsTo, cookie } = await begin(base);
  const { nonce = "", state = "" } = Object.fromEntries(leadsTo.searchParams);
  const idToken = token === undefined ? await fake.sign(idClaims(fake, { nonce, ...claims })) : await token(nonce);
  fake.tokens = { access_token: "an-access-token", token_type: "Bearer", expires_in: 60, id_token: idToken };
  const answer = await ask(`${base}/sign-in/callback?${new URLSearchParams({ code: "a-code", state }).toString()}`, {
    cookie,
  });
  return { answer, cookie: sessionOf(answer) };
}

export const logout = { "http://schemas.openid.net/event/backchannel-logout": {} };
export const seconds = (): number => Math.floor(Date.now() / 1000);

/** The claims of a logout token that is as it should be, changed; what is undefined is left out. */
export function logoutClaims({ issuer }: FakeProvider, changes: Record<string, unknown> = {}): JWTPayload {
  const claims: Record<string, unknown> = {
    iss: issuer,
    aud: clientId,
    iat: seconds(),
    exp: seconds() + 120,
    jti: randomUUID(),
    events: logout,
    sub: "person-dora",
    ...changes,
  };
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
}

/** Calls the service as the provider does. */
export function tellLogout(
  base: string,
  token: string | undefined,
  headers: Record<string, string> = {},
): Promise<RestAnswer> {
  return ask(`${base}/sign-out/back-channel`, {
    body: new URLSearchParams(token === undefined ? {} : { logout_token: token }),
    headers,
  });
}
