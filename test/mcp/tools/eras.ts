// Set-up for tests of the protocol revisions: a signed-in user, and requests of a revision.
import { beforeAll } from "vitest";
import type { SignInFixture } from "../../fixtures/sign-in/fixture.ts";
import type { RestResponse } from "../../fixtures/service/service.ts";
import type { Holder, Revision } from "./set-up.ts";
import { holderOf, request, revisions } from "./set-up.ts";

/** All revisions but the newest. */
export const old = revisions.filter((revision) => revision !== "2026-07-28");

/** Signs a user in before the tests of the file. */
export function useHolder(fixture: () => SignInFixture) {
  let holder: Holder;
  beforeAll(async () => {
    holder = await holderOf(fixture());
  });
  const send = (
    revision: Revision,
    method: string,
    params?: Record<string, unknown>,
    headers?: Record<string, string | undefined>,
  ): Promise<RestResponse> => request(holder, revision, method, params, headers);
  return { holder: () => holder, send };
}
