// What a test file of the documents for assistants begins with: their paths, and a provider that publishes its own.
import type { ResponseHandler } from "../../fixtures/sign-in/fake-provider.ts";
import type { RestResponse } from "../../fixtures/service/service.ts";
import { rest } from "../../fixtures/service/service.ts";
import { useFakeProvider } from "../../support/at-fake-provider.ts";

export const resourcePath = "/.well-known/oauth-protected-resource";
export const serverPath = "/.well-known/oauth-authorization-server";
export const openIdPath = "/.well-known/openid-configuration";
/** With unusual spacing, so that a change would show. */
export const odd = (issuer: string): string =>
  `{\n\t"issuer" : "${issuer}",  "authorization_endpoint":"${issuer}/auth",\r\n "token_endpoint":"${issuer}/token","jwks_uri":"${issuer}/jwks", "x":"\\u00e4ä", "n":1.0e2 }\n\n`;
export const text =
  (body: string): ResponseHandler =>
  (_request, response) =>
    void response.writeHead(200, { "Content-Type": "application/json" }).end(body);

/** Starts the provider and the service; `get` requests a path of the service, or of another one. */
export function useDocuments() {
  const { fake, service, base } = useFakeProvider({
    prepare: (one) => void one.responses.set(serverPath, text(odd(one.issuer))),
  });
  const get = (
    path: string,
    headers: Record<string, string> = {},
    at = base(),
    method = "GET",
  ): Promise<RestResponse> => rest(at, path, { method, headers });
  return { fake, service, base, get };
}
