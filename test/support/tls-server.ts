// A TLS server with an untrusted certificate that is silent after the handshake.
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:tls";

export const expiresAt = Date.parse("2126-10-29T17:55:33Z");

/** Self-signed, for localhost and 127.0.0.1; the key protects nothing. */
const cert = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUPGt1dUwORMnMkdst3mTy/BxE7LAwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjE3NTUzM1oYDzIxMjYxMDI5
MTc1NTMzWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQFYqkJHx6Vjf4icSjjBVOo9iIdsoLe2EVC1khKt9iIwElg/YRBIsp8
wiazytbxUgdk48KKM4re3v3JiPIiCoa2o28wbTAdBgNVHQ4EFgQUfK7M0RdfKL2I
+UOhUulkwjfoHfYwHwYDVR0jBBgwFoAUfK7M0RdfKL2I+UOhUulkwjfoHfYwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIhAItZkP5sLpqevRvEkPpEa9NRv0TWC/qZ3oHSfvTcbH+pAiAf
hAuO2JXRqZyX42Bw3zLCe+NDHe/z2oP/oOgGZxMIQg==
-----END CERTIFICATE-----`;
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg+I3Xy+c3Faq9lSpp
mX9bb0a8ngxsqUORFxI1m5NXBOShRANCAAQFYqkJHx6Vjf4icSjjBVOo9iIdsoLe
2EVC1khKt9iIwElg/YRBIsp8wiazytbxUgdk48KKM4re3v3JiPIiCoa2
-----END PRIVATE KEY-----`;

export const selfSigned = { cert, key } as const;

export async function startTlsServer(): Promise<{ readonly host: string; stop(): Promise<void> }> {
  const server = createServer({ cert, key }, (socket) => socket.on("error", () => undefined).resume()).listen(
    0,
    "127.0.0.1",
  );
  await once(server, "listening");
  return {
    host: `localhost:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close();
      await Promise.resolve();
    },
  };
}
