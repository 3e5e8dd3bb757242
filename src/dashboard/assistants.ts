// How to add the MCP address to the usual assistants, one of them open at a time.
import type { Html } from "../text/html.ts";
import { html } from "../text/html.ts";
import { copyField } from "./layout.ts";

export function assistants(url: string): Html {
  const server = JSON.stringify({ name: "records", type: "http", url });
  const cursor = new URLSearchParams({
    name: "records",
    config: Buffer.from(JSON.stringify({ url })).toString("base64"),
  });
  return html`<div class="clients">
${client("Claude", html`<p>Settings → Connectors → Add custom connector. Paste the address.</p>`)}
${client("Claude Code", copyField({ id: "claude-code", name: "In a terminal", value: `claude mcp add --transport http records ${url}`, copy: "Copy command" }))}
${client("ChatGPT", html`<p>Settings → Connectors, with developer mode on → Create. Paste the address, and choose OAuth.</p>`)}
${client("Cursor", html`<p><a class="button second" href="cursor://anysphere.cursor-deeplink/mcp/install?${cursor.toString()}">Add to Cursor</a></p>`)}
${client("VS Code", copyField({ id: "vs-code", name: "In a terminal", value: `code --add-mcp '${server}'`, copy: "Copy command" }))}
</div>`;
}

function client(name: string, content: Html): Html {
  return html`<details name="client"><summary>${name}</summary>${content}</details>`;
}
