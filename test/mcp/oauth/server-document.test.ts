// The authorization server's document: the provider's own, byte for byte, kept for when the provider is away.
import { describe, expect, test, vi } from "vitest";
import { away, json, silent, startFakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { advanceClock } from "../../support/advance-clock.ts";
import { odd, openIdPath, resourcePath, serverPath, text, useDocuments } from "./documents.ts";

const { fake, service, get } = useDocuments();

describe("the authorization server's document", () => {
  test.each([serverPath, `${serverPath}/mcp`])("is the provider's own at %s, byte for byte [OAU-04]", async (path) => {
    const direct = await (await fetch(`${fake().issuer}${serverPath}`)).text();
    expect(direct).toBe(odd(fake().issuer));
    const { status, text: copy, headers } = await get(path);
    expect([status, copy, headers.get("content-type")]).toEqual([200, direct, "application/json"]);
  });

  test("is the first of the provider's addresses that returns a document: pages and other JSON are skipped [OAU-04]", async () => {
    const other = await startFakeProvider();
    try {
      for (const response of [text("<!doctype html>Hello"), text("null"), json({ issuer: other.issuer }, 404)]) {
        other.responses.set(serverPath, response);
        const fresh = await service().another(other.settings());
        expect((await get(serverPath, {}, fresh.base)).body).toEqual(other.metadata);
        await fresh.stop();
      }
    } finally {
      await other.stop();
    }
  });

  test("is that of the configured issuer: another issuer's is skipped, and a slash at the end may differ [OAU-04]", async () => {
    const other = await startFakeProvider();
    try {
      for (const issuer of ["https://other.example", `${other.issuer}/realm`, `${other.issuer}//`]) {
        other.responses.set(serverPath, json({ ...other.metadata, issuer }));
        const fresh = await service().another(other.settings());
        expect((await get(serverPath, {}, fresh.base)).body).toEqual(other.metadata);
        other.responses.set("*", json({ ...other.metadata, issuer }));
        const none = await service().another(other.settings());
        expect((await get(serverPath, {}, none.base)).status).toBe(503);
        other.responses.delete("*");
        await Promise.all([fresh.stop(), none.stop()]);
      }
      const slashed = { ...other.metadata, issuer: `${other.issuer}/` };
      other.responses.set(serverPath, json(slashed));
      const fresh = await service().another(other.settings());
      expect((await get(serverPath, {}, fresh.base)).body).toEqual(slashed);
      await fresh.stop();
    } finally {
      await other.stop();
    }
  });

  test("is requested once for many readers, and the previous one is served while the provider is unavailable [OAU-04]", async () => {
    const other = await startFakeProvider();
    const instance = await service().another(other.settings());
    try {
      other.responses.set("*", away);
      const none = await get(serverPath, {}, instance.base);
      expect([none.status, none.body]).toEqual([
        503,
        {
          error: {
            code: "503",
            message: "The identity provider cannot be reached. Try again in a moment.",
            reason: "UNAVAILABLE",
          },
        },
      ]);
      expect([none.headers.get("access-control-allow-origin"), none.headers.get("retry-after")]).toEqual(["*", null]);
      other.responses.clear();
      other.responses.set(serverPath, text(odd(other.issuer)));
      other.requestedPaths.length = 0;
      await Promise.all(Array.from({ length: 30 }, () => get(serverPath, {}, instance.base)));
      expect(other.requestedPaths).toEqual([serverPath]);
      for (const trouble of [away, silent, json({ error: "x" }, 500)]) {
        other.responses.set("*", trouble);
        await advanceClock(86_400, instance.app.client);
        expect((await get(serverPath, {}, instance.base)).text).toBe(odd(other.issuer));
      }
    } finally {
      await instance.stop();
      await other.stop();
    }
  });

  test("replaces the previous one when it changes [OAU-04]", async () => {
    const other = await startFakeProvider();
    const instance = await service().another(other.settings());
    try {
      expect((await get(serverPath, {}, instance.base)).body).toEqual(other.metadata);
      other.metadata["registration_endpoint"] = `${other.issuer}/reg`;
      await advanceClock(86_400, instance.app.client);
      await vi.waitFor(
        async () =>
          expect((await get(serverPath, {}, instance.base)).body.registration_endpoint).toBe(`${other.issuer}/reg`),
        { timeout: 5_000 },
      );
    } finally {
      await instance.stop();
      await other.stop();
    }
  });

  test("is 503 before a client gives up if the provider does not respond [OAU-04]", async () => {
    const other = await startFakeProvider();
    other.responses.set("*", silent);
    const instance = await service().another(other.settings());
    try {
      const completed = Promise.all([
        get(serverPath, {}, instance.base),
        get(openIdPath, {}, instance.base),
        get(resourcePath, {}, instance.base),
      ]);
      const late = new Promise<"late">((resolve) => setTimeout(() => resolve("late"), 5_000).unref());
      const responses = await Promise.race([completed, late]);
      expect(responses === "late" ? responses : responses.map(({ status }) => status)).toEqual([503, 503, 200]);
    } finally {
      await instance.stop();
      await other.stop();
    }
  });
});
