// Creates and appends under idempotency keys, and what of their responses a replay repeats.
import type { RestResponse, TestAccount, TestService } from "../fixtures/service/service.ts";
import type { TwoInstances } from "./two-instances.ts";
import { useTwoInstances } from "./two-instances.ts";

/** Two instances, and the requests of a test to them; without a key they have no header. */
export interface KeyedRequests extends TwoInstances {
  create(account: TestAccount, key: string | undefined, body: unknown, at?: TestService): Promise<RestResponse>;
  append(account: TestAccount, key: string | undefined, contactId: string, content: string): Promise<RestResponse>;
}

/** Starts the instances before the tests of the file and stops them after the tests. */
export function useKeyedRequests(): KeyedRequests {
  const instances = useTwoInstances();
  const { service } = instances;

  function create(
    account: TestAccount,
    key: string | undefined,
    body: unknown,
    at: TestService = service(),
  ): Promise<RestResponse> {
    return at.rest("/v1/contacts", {
      key: account.key,
      body,
      headers: key === undefined ? {} : { "Idempotency-Key": key },
    });
  }

  function append(
    account: TestAccount,
    key: string | undefined,
    contactId: string,
    content: string,
  ): Promise<RestResponse> {
    return service().rest(`/v1/contacts/${contactId}/notes`, {
      key: account.key,
      body: { content },
      headers: key === undefined ? {} : { "Idempotency-Key": key },
    });
  }

  return { ...instances, create, append };
}

/** What a replay has to repeat: everything but what belongs to this one exchange. */
export function repeated({ status, text, headers }: RestResponse): unknown {
  const own = new Set(["x-request-id", "date", "idempotent-replayed"]);
  return { status, text, headers: [...headers].filter(([name]) => !own.has(name)) };
}
