// What REST's own limits leave out of a result: it says so, and how to get the rest.
import { beforeAll, describe, expect, test } from "vitest";
import { useSignInFixture } from "../../../fixtures/sign-in/fixture.ts";
import type { Holder } from "./set-up.ts";
import { call, holderOf } from "./set-up.ts";

const fixture = useSignInFixture();
let holder: Holder;
beforeAll(async () => {
  holder = await holderOf(fixture());
  const named = (name: string, count: number) =>
    Array.from({ length: count }, (_, at) => ({ full_name: `${name} ${at}`, notes: "n".repeat(10_000) }));
  await holder.put.contacts(...named("Martin", 27), ...named("Larsen", 24));
});

const idsOf = (data: readonly { readonly id: string }[]): string[] => data.map(({ id }) => id);

describe("search_contacts", () => {
  test.each([
    ["only a query", { query: "martin" }],
    ["arguments beside it that count as left out", { query: "martin", limit: null, state: "", offset: "" }],
  ])("with %s has REST's body, and says that there may be more than 25 [MCP-08] [MCP-22]", async (_, given) => {
    const { structured } = await call(holder, "search_contacts", given);
    expect(Object.keys(structured).sort()).toEqual(["data", "hint", "truncated"]);
    expect(structured.truncated).toBe(true);
    expect(structured.hint).toMatch(
      /^There may be more contacts: pass offset 25 for the next ones\. Long texts are cut/,
    );
    const next = await call(holder, "search_contacts", { query: "martin", offset: 25 });
    expect(next.structured.pagination).toEqual({ limit: 25, offset: 25, has_more: false, next_offset: null });
    expect(new Set(idsOf([...structured.data, ...next.structured.data])).size).toBe(27);
  });

  test("says nothing where all contacts are there, or where pagination says it [MCP-22]", async () => {
    for (const given of [{ query: "larsen 2" }, { query: "martin", limit: 25, brief: true }])
      expect(Object.keys((await call(holder, "search_contacts", given)).structured)).not.toContain("hint");
  });
});
