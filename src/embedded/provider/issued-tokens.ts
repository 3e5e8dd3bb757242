// Introspection and revocation of access tokens that are JWTs, which the library does not support.
import { createLocalJWKSet, jwtVerify, type JWTPayload } from "jose";
import type { AccessToken, KoaContextWithOIDC, Provider } from "oidc-provider";
import { mayIntrospect } from "./configuration.ts";
import type { Keys } from "./keys.ts";
import type { Middleware } from "./page.ts";
import { ISSUED_TOKENS, type Store } from "./store.ts";

/**
 * Returns middleware that records issued tokens, and handles the token requests that the library rejects as
 * unsupported.
 */
export function issuedTokens(provider: Provider, store: Store, keys: Keys): Middleware {
  const issued = store.table(ISSUED_TOKENS);
  const publicKeys = createLocalJWKSet({
    keys: keys.signing.map(({ kty, n, e, crv, x, y, alg, kid }) => ({ kty, n, e, crv, x, y, alg, kid }) as never),
  });
  const rejected = new WeakSet<object>();
  const rejection = (ctx: KoaContextWithOIDC, error: { error?: string }): void => {
    if (error.error === "unsupported_token_type") rejected.add(ctx.req);
  };
  provider.on("introspection.error", rejection);
  provider.on("revocation.error", rejection);
  provider.on("access_token.issued", (token: AccessToken) => {
    const { jti, accountId, clientId, grantId, sessionUid, expiresWithSession, expiration } = token;
    issued.put(jti, { jti, accountId, clientId, grantId, sessionUid, expiresWithSession }, expiration);
    void store.keep();
  });

  const isAlive = async ({ jti = "" }: JWTPayload): Promise<boolean> => {
    const token = issued.get(jti);
    if (token === undefined) return false;
    if (!token.expiresWithSession) return true;
    const session = await provider.Session.findByUid(token.sessionUid ?? "");
    return session?.accountId === token.accountId && session?.grantIdFor(token.clientId ?? "") === token.grantId;
  };

  return async (ctx, next) => {
    await next();
    if (!rejected.has(ctx.req)) return;
    // The library has read the request and authenticated the client. It only rejected the token.
    const { client, params, route } = (ctx as unknown as KoaContextWithOIDC).oidc;
    if (client === undefined) return;
    const claims = await jwtVerify(String(params?.["token"]), publicKeys, {
      issuer: provider.issuer,
      typ: "at+jwt",
    }).then(
      ({ payload }) => payload,
      () => undefined,
    );
    ctx.status = 200;
    if (route === "introspection") {
      const active =
        claims !== undefined && mayIntrospect(client, String(claims["client_id"])) && (await isAlive(claims));
      ctx.body = active ? { active, ...claims, token_type: "Bearer" } : { active: false };
      return;
    }
    if (claims?.["client_id"] === client.clientId) issued.remove(claims.jti ?? "");
    await store.keep();
    ctx.body = "";
  };
}
