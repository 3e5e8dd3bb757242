// The example with the official MCP client, run as a program with a user's token.
import { expect, test } from "vitest";
import { holderOf } from "../mcp/tools/set-up.ts";
import { useSignInFixture } from "../fixtures/sign-in/fixture.ts";
import { runExample } from "./run.ts";

const fixture = useSignInFixture();

test("mcp-client lists the tools and prints the result of the tool that it calls", async () => {
  const { url, token, put } = await holderOf(fixture());
  const id = await put.contact({ full_name: "Zoë Martin" });
  const environment = { RECORDS_MCP_URL: url, RECORDS_MCP_TOKEN: token };
  const { status, out, error } = await runExample("mcp-client", ["search_contacts", "zoe"], environment);
  expect([status, error]).toEqual([0, ""]);
  const [tools = "", called = ""] = out.split("\n\n");
  expect(tools.split("\n").map((line) => line.split(":")[0])).toEqual(
    expect.arrayContaining(["search_contacts", "get_contact", "search_notes", "fetch"]),
  );
  expect(called.startsWith('search_contacts({"query":"zoe"})\n')).toBe(true);
  expect(JSON.parse(called.slice(called.indexOf("\n")))).toMatchObject({ data: [{ id, full_name: "Zoë Martin" }] });

  expect(await runExample("mcp-client", ["search_contacts", "z"], environment)).toMatchObject({
    status: 1,
    out: expect.stringContaining("was rejected"),
  });
  expect(await runExample("mcp-client", [], { RECORDS_MCP_URL: url })).toMatchObject({
    status: 1,
    error: expect.stringMatching(/^Set RECORDS_MCP_TOKEN .+\n$/),
  });
});
