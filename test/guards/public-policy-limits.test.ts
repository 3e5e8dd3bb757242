// The public access policy: what is served without a credential, the bound on requests at once, and the throttle.
import { describe, expect, test, vi } from "vitest";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { createThrottle } from "../../src/guards/throttle.ts";
import { accountId, reasonOf } from "./made.ts";
import { checkHealth, key, usePublicPolicy } from "./public-policy.ts";

const policy = usePublicPolicy();
const { parts, dispatch, call } = policy;

describe("without a credential", () => {
  test("health with a key takes from the bucket of the key's account, looks the key up once, and does not count as its use [RTE-09]", async () => {
    for (let turn = 0; turn < 2; turn++) await call(checkHealth, key);
    const throttled = [`take account:${accountId.toHexString()}`, "serve CheckHealth"];
    expect(parts().steps).toEqual(["find", ...throttled, ...throttled]);
    expect(parts().observation).toMatchObject({ account: accountId });
  });

  test("a request without an rpc is only throttled [ERR-10]", async () => {
    await dispatch().throttle(parts().inbound());
    await dispatch().throttle(parts().inbound(key));
    expect(parts().steps).toEqual(["take address:192.0.2.1", "find", `take account:${accountId.toHexString()}`]);
    parts().world.waitMs = 1;
    expect(await reasonOf(dispatch().throttle(parts().inbound()))).toBe("RATE_LIMITED");
  });
});

describe("the throttle", () => {
  test.each([
    [1, 1, "1 second"],
    [1_000, 1, "1 second"],
    [1_001, 2, "2 seconds"],
    [59_400, 60, "60 seconds"],
  ])(
    "states the wait in its message too, for a wire without Retry-After: %i ms [RTE-03, RTE-14]",
    async (waitMs, seconds, words) => {
      const fallback = vi.fn();
      const throttle = createThrottle(undefined, { take: () => Promise.resolve(waitMs) }, 50, fallback);
      await expect(throttle("somebody")).rejects.toMatchObject({
        reason: Reason.RATE_LIMITED,
        retryAfterSeconds: seconds,
        message: `Too many requests. Try again in ${words}.`,
      });
      expect(fallback).not.toHaveBeenCalled();
    },
  );

  test("takes from the shared bucket, or from its own if the shared one cannot decide, which is reported [RTE-08, RTE-13]", async () => {
    let away = false;
    let fallbacks = 0;
    const full = { take: () => Promise.resolve(5_000) };
    const shared = { take: () => (away ? Promise.reject(new Error("Redis is away")) : Promise.resolve(0)) };
    const throttle = createThrottle(shared, full, 50, () => (fallbacks += 1));
    expect(await reasonOf(throttle("somebody"))).toBe("no failure");
    expect(fallbacks).toBe(0);
    away = true;
    expect(await reasonOf(throttle("somebody"))).toBe("RATE_LIMITED");
    expect(fallbacks).toBe(1);
  });
});
