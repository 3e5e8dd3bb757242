// Authenticates the service at the provider: by the method that the provider's metadata offers, or by the other one.
import type { Configuration } from "openid-client";
import * as oidc from "openid-client";
import { responseOf } from "./provider-response.ts";

/** How the service sends its secret: in the Authorization header or in the form (RFC 6749 §2.3.1). */
export type AuthenticationMethod = (typeof methods)[number];

/** The service as a client of the provider. */
export interface ProviderClient {
  /** For requests without the secret, and for the provider's metadata. */
  readonly config: Configuration;
  /**
   * Makes a request with the secret. If the provider rejects the client, repeats the request with the other method, and
   * keeps to that method if the provider accepts it. Otherwise rejects with the first error.
   */
  authenticated<T>(request: (config: Configuration) => Promise<T>): Promise<T>;
  /** Returns the method that the next request uses first. */
  method(): AuthenticationMethod;
}

/** In the order of preference. RFC 6749 §2.3.1 does not recommend the form. */
const methods = ["client_secret_basic", "client_secret_post"] as const;

/** Creates the client. `create` returns a configuration that authenticates in the given way. */
export function createProviderClient(
  create: (authentication: oidc.ClientAuth) => Configuration,
  secret: string,
): ProviderClient {
  const configs: Readonly<Record<AuthenticationMethod, Configuration>> = {
    client_secret_basic: create(oidc.ClientSecretBasic(secret)),
    client_secret_post: create(oidc.ClientSecretPost(secret)),
  };
  const config = configs.client_secret_basic;
  let accepted = offeredMethod(config.serverMetadata().token_endpoint_auth_methods_supported);
  return {
    config,
    method: () => accepted,
    async authenticated(request) {
      const first = accepted;
      try {
        return await request(configs[first]);
      } catch (error) {
        if (!isClientRejected(error)) throw error;
        const other = otherThan(first);
        const result = await request(configs[other]).then(
          (value) => () => value,
          (second: unknown) => {
            if (isClientRejected(second)) throw error;
            return () => Promise.reject(second as Error);
          },
        );
        // Any other error shows that the provider accepts the method, such as that of an expired code.
        accepted = other;
        return result();
      }
    },
  };
}

/** Returns the preferred method. Without a list, it is the Authorization header (RFC 8414 §2). */
function offeredMethod(offered: readonly string[] | undefined): AuthenticationMethod {
  return methods.find((method) => offered?.includes(method) ?? true) ?? methods[0];
}

function otherThan(method: AuthenticationMethod): AuthenticationMethod {
  return methods.find((one) => one !== method) ?? method;
}

/** Whether the provider rejects the client itself. Some providers name another code with the status 401. */
function isClientRejected(error: unknown): boolean {
  const { status, code } = responseOf(error) ?? {};
  return status === 401 || code === "invalid_client";
}
