// Generates /llms.txt (llmstxt.org) from the OpenAPI document in force: the facts that a language model needs to call
// the service.
import type { OpenApiDocument } from "../http/openapi-settings.ts";
import type { OperationSummary } from "./operations.ts";
import { keyScheme, listOperations } from "./operations.ts";

/** Facts for the text that the document does not contain. */
export interface LlmsOptions {
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
  /** The address of the MCP surface; undefined if MCP is off. */
  readonly mcpUrl: string | undefined;
}

/** Returns the whole text, in Markdown. */
export function llmsText(document: OpenApiDocument, { baseUrl, mcpUrl }: LlmsOptions): string {
  const { info } = document;
  const operations = listOperations(document);
  const offered = operations.filter(({ scheme }) => scheme === undefined || scheme === keyScheme);
  const behindSession = operations.filter((operation) => !offered.includes(operation));
  return `# ${info.title}

> ${firstParagraph(info.description)} One service with REST (JSON under \`/v1\`), Connect, gRPC, gRPC-Web and, for assistants, MCP. Version ${info.version}.

Base URL: ${baseUrl}

Authentication: send an API key as \`Authorization: Bearer $KEY\`. A user creates the account's one key on the dashboard (${baseUrl}/), where it is shown once; a read-only key cannot write. In the lines below, \`$KEY\` is the key, and \`$CONTACT_ID\` or \`$SESSION_ID\` the \`id\` of a record from a search or a list. Each write needs another \`Idempotency-Key\`.

Errors are JSON: \`{"error": {"code", "message", "reason"}}\`, with \`details\` if single fields are invalid. The message says what is wrong and how to correct it.

| Status | When |
| --- | --- |
${failureRows(offered)}

${guide(info.description)}

## Endpoints

${offered.map((operation) => endpoint(operation, baseUrl)).join("\n")}

## Documents

- [API reference](${baseUrl}/docs): every operation with its fields and limits, where you can also send requests
- [Guide](${baseUrl}/guide): concepts, search, retries, errors and limits
- [OpenAPI 3.1, JSON](${baseUrl}/openapi.json): the exact description, for generating clients
- [OpenAPI 3.1, YAML](${baseUrl}/openapi.yaml): the same in YAML
- [Protobuf descriptors](${baseUrl}/records.binpb): a FileDescriptorSet, for gRPC and Connect clients
- [Postman collection](${baseUrl}/postman.json): every operation as a request, also for Bruno and Insomnia
${mcpUrl === undefined ? "" : `- [MCP](${mcpUrl}): the address of the Model Context Protocol surface (Streamable HTTP, OAuth 2.1); its tools only read\n`}
## Optional

${behindSession.map((operation) => `- ${named(operation, baseUrl)}: ${operation.summary}; needs a sign-in on the dashboard, not an API key`).join("\n")}
`;
}

function endpoint(operation: OperationSummary, baseUrl: string): string {
  const more = operation.query.map(({ name, required }) => `\`${name}\`${required ? "" : "?"}`);
  return `- ${named(operation, baseUrl)}: ${operation.summary}.${more.length === 0 ? "" : ` Query: ${more.join(", ")}.`} \`${curlLine(operation, baseUrl)}\``;
}

/** Returns a link to the operation on the reference page. */
function named({ method, path, tag }: OperationSummary, baseUrl: string): string {
  return `[${method} ${path}](${baseUrl}/docs#tag/${tag.toLowerCase().replaceAll(" ", "-")}/${method}${path})`;
}

/** Returns a curl command with the required parameters, and with the fields that have an example. */
function curlLine({ method, path, scheme, query, body, idempotencyKey }: OperationSummary, baseUrl: string): string {
  const address = `${baseUrl}${path.replace(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`)}`;
  const parameters = query
    .filter(({ required, example }) => required && example !== undefined)
    .map(({ name, example = "" }) => `${name}=${encodeURIComponent(example)}`);
  return [
    "curl",
    ...(method === "GET" || (method === "POST" && body !== undefined) ? [] : [`-X ${method}`]),
    ...(scheme === undefined ? [] : ['-H "Authorization: Bearer $KEY"']),
    ...(idempotencyKey ? [`-H 'Idempotency-Key: ${path.split("/").at(-1) ?? ""}-1'`] : []),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`]),
    `"${[address, ...parameters].join("?")}"`,
  ].join(" ");
}

/** Returns the rows of the table of error statuses. Each sentence is listed once for a status. */
function failureRows(operations: readonly OperationSummary[]): string {
  const meanings = new Map<string, Set<string>>();
  for (const { failures } of operations) {
    for (const [status, text] of failures) {
      const known = meanings.get(status) ?? new Set();
      meanings.set(status, known);
      for (const sentence of text.split(/(?<=\.) (?=[A-Z])/)) known.add(sentence);
    }
  }
  return [...meanings]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([status, sentences]) => `| ${status} | ${[...sentences].join(" ")} |`)
    .join("\n");
}

function firstParagraph(text: string): string {
  return text.split("\n\n")[0] ?? "";
}

/** Returns the introduction without its first paragraph and with its headings in bold. */
function guide(text: string): string {
  const paragraphs = text.split("\n\n").slice(1).join("\n\n");
  // In llms.txt, a heading starts a list of links.
  return paragraphs.replace(/^## (.+)\n\n/gm, "**$1.** ");
}
