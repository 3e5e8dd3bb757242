// A key while Redis is stopped and after it is back, empty: the database alone decides (contract §5.4).
import { expect, test } from "vitest";
import type { TestService } from "../support/service.ts";
import { startService } from "../support/service.ts";
import { recordsOf } from "./stored.ts";
import { wires } from "./wires.ts";

test("what was written before, during and after an outage of Redis is replayed before, during and after it [IDM-17]", async () => {
  const service = await startService();
  let other: TestService | undefined;
  try {
    other = await service.another();
    const account = await service.account();
    const [here, there] = [service, other].map(({ base }) => ({ base, key: account.key }));
    if (here === undefined || there === undefined) throw new Error("two instances");
    const before = await wires.REST.create(here, "before", { full_name: "Before" });
    await service.redis.stop();
    const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => wires.REST.create(at % 2 === 0 ? here : there, "during", { full_name: "During" })));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ outcome, replayed }) => outcome === "ok" && !replayed)).toHaveLength(1);
    expect((await wires.gRPC.create(there, "before", { full_name: "Before" })).id).toBe(before.id);
    expect((await wires.REST.create(there, "during", { full_name: "Other" })).outcome).toBe("409");
    expect(await recordsOf(service.app.client, account)).toEqual({ contacts: 2, notes: 0, claims: 2 });
    expect((await wires.REST.create(there, "before", { full_name: "Before" })).text).toBe(before.text);
    expect((await wires.REST.create(here, "during", { full_name: "During" })).text).toBe(answers[0]?.text);
  } finally {
    await other?.stop();
    await service.stop();
  }
});

