// Shows what an assistant sees: the tools of the MCP surface, and what one of them returns.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { serviceUrl } from "../connection.ts";

const token = process.env["RECORDS_MCP_TOKEN"];
if (token === undefined || token === "")
  throw new Error(
    "Set RECORDS_MCP_TOKEN to an access token of the identity provider: `node bin/records.js token` prints one.",
  );
const url = process.env["RECORDS_MCP_URL"] ?? `${serviceUrl()}/mcp`;
const [name = "search_contacts", query = "mathieu"] = process.argv.slice(2);

const client = new Client({ name: "records-example", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
await client.connect(
  new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }),
);
try {
  const { tools } = await client.listTools();
  for (const tool of tools) console.log(`${tool.name}: ${tool.title ?? ""}`);
  const { isError, structuredContent, content } = await client.callTool({ name, arguments: { query } });
  console.log(`\n${name}(${JSON.stringify({ query })})${isError === true ? " was rejected" : ""}`);
  console.log(JSON.stringify(structuredContent ?? content, null, 2));
  if (isError === true) process.exitCode = 1;
} finally {
  await client.close();
}
