// Deletes an account as an operator does.
import { expect } from "vitest";
import type { RestResponse, TestService } from "../../fixtures/service/service.ts";

/**
 * Repeats the deletion until it reports that nothing is left, as `records account delete` does. A call may report less
 * on a busy machine: the erasure continues for longer than the call, or Redis misses its deadline.
 */
export async function deleteAccount(service: TestService, accountId: string, reason = ""): Promise<RestResponse> {
  const call = (): Promise<RestResponse> =>
    service.internalCall("records.admin.v1.AccountService/DeleteAccount", { account_id: accountId, reason });
  let response = await call();
  await expect
    .poll(
      async () => {
        if (response.body.erased !== true) response = await call();
        return response.body.erased;
      },
      { timeout: 30_000 },
    )
    .toBe(true);
  return response;
}
