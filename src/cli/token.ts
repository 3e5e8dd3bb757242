// `records token`: signs a user in to get an access token for the MCP surface.
import type { Command } from "commander";
import type { Context } from "./context.ts";
import { rejectUsage } from "./exit.ts";
import { findMcpUrl } from "./where.ts";

const help = `
It registers a client at the identity provider, prints the address of the
sign-in page, and waits at most 10 minutes. On a terminal it opens the page in
the browser, unless --no-browser is set. If the browser is on another machine,
it cannot show the last page: paste the address of that page here.

Only the token goes to standard output:
  RECORDS_MCP_TOKEN=$(node bin/records.js token)`;

/** Adds the command. */
export function addToken(program: Command, environment: NodeJS.ProcessEnv, context: Context): void {
  program
    .command("token")
    .description("sign a user in and print an access token for the MCP surface")
    .argument(
      "[mcp-url]",
      "its address; by default RECORDS_MCP_URL, else RECORDS_URL with /mcp, else that of the demo in DATA_DIR or on port 8080",
    )
    .option("--client-id <id>", "a public client of the provider, instead of a new one")
    .option("--no-browser", "print the address of the page and do not open it")
    .addHelpText("after", help)
    .action(async (address: string | undefined, options: { clientId?: string; browser: boolean }) => {
      const mcpUrl = address ?? findMcpUrl(environment);
      if (!URL.canParse(mcpUrl) || !/^https?:$/.test(new URL(mcpUrl).protocol))
        rejectUsage(`The address of the MCP surface must be a URL such as http://localhost:8080/mcp, not "${mcpUrl}".`);
      const { getToken } = await import("./token-actions.ts");
      const { output } = context;
      const { token, expiresIn } = await getToken({
        mcpUrl,
        clientId: options.clientId,
        opensBrowser: options.browser && output.watched,
        prompt: (line) => output.prompt(line),
      });
      output.result({ access_token: token, expires_in: expiresIn ?? null, mcp_url: mcpUrl }, [token]);
    });
}
