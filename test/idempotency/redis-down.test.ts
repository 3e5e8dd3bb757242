// A key while Redis is stopped, and after it has restarted empty: the database alone decides (contract §5.4).
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import type { EmbeddedServer } from "../../src/embedded/server.ts";
import { startInItsPlace } from "../fixtures/databases/redis-in-its-place.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";
import { recordsOf } from "../fixtures/records/stored.ts";
import { wires } from "../fixtures/clients/idempotent-writes.ts";

test("what was written before, during and after an outage of Redis is always replayed, and 50 concurrent requests write once in it [IDM-16, IDM-17]", async () => {
  const folder = mkdtempSync(join(tmpdir(), "records-redis-"));
  const service = await startService();
  let [other, restarted]: [TestService | undefined, EmbeddedServer | undefined] = [undefined, undefined];
  try {
    other = await service.another();
    const account = await service.account();
    const here = { base: service.base, key: account.key };
    const there = { base: other.base, key: account.key };
    const before = await wires.REST.create(here, "before", { full_name: "Before" });
    await service.redis.stop();
    const during = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        wires.REST.create(at % 2 === 0 ? here : there, "during", { full_name: "During" }),
      ),
    );
    expect(new Set(during.map(({ text }) => text)).size).toBe(1);
    expect(during.filter(({ outcome, replayed }) => outcome === "ok" && !replayed)).toHaveLength(1);
    expect((await wires.REST.create(there, "before", { full_name: "Before" })).text).toBe(before.text);
    expect((await wires.REST.create(there, "during", { full_name: "Other" })).outcome).toBe("409");

    restarted = await startInItsPlace(service.redis.uri, folder);
    const client = new Redis(restarted.uri);
    // The instances find it by themselves: a response is kept in it again.
    await expect
      .poll(
        async () => {
          expect((await wires.REST.create(there, "before", { full_name: "Before" })).text).toBe(before.text);
          return client.exists(`idempotency:${account.id}:before`);
        },
        { timeout: 10_000 },
      )
      .toBe(1);
    client.disconnect();
    for (const target of [here, there])
      expect((await wires.REST.create(target, "during", { full_name: "During" })).text).toBe(during[0]?.text);
    const after = await wires.gRPC.create(there, "after", { full_name: "After" });
    expect((await wires.gRPC.create(here, "after", { full_name: "After" })).id).toBe(after.id);
    expect(await recordsOf(service.app.client, account)).toEqual({ contacts: 3, notes: 0, claims: 3 });
  } finally {
    await other?.stop();
    await service.stop();
    await restarted?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
