// The files that `npm run generate` makes from the code and from other files, in addition to src/gen.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { openApiDocument } from "../gateway/openapi.ts";
import { placements } from "../src/db/sharding.ts";
import { commandsPage } from "./commands.ts";

/** A generated file. */
export interface GeneratedFile {
  readonly path: string;
  /** What it is made from. */
  readonly source: string;
  /** Returns its content. Returns undefined if its generator failed, which has then reported why. */
  make(): string | undefined;
}

const rulesFile = "deploy/prometheus/alerts.yaml";
const shardingPage = "docs/sharding.md";

export const generatedFiles: readonly GeneratedFile[] = [
  { path: "client/src/schema.ts", source: "src/gen/openapi.json", make: clientSchema },
  { path: "deploy/kubernetes/example/prometheus-rule.yaml", source: rulesFile, make: prometheusRule },
  { path: "docs/commands.md", source: "the command line", make: commandsPage },
  { path: shardingPage, source: "src/db/sharding.ts", make: withPlaces },
];

/** The client's types of the REST interface, by openapi-typescript, for the document with the default settings. */
function clientSchema(): string | undefined {
  const document = openApiDocument({
    baseUrl: "http://localhost:8080",
    documentProvider: "google",
    rateLimit: 10,
    sessionCookie: "records_session",
  });
  const { status, stdout } = spawnSync("client/node_modules/.bin/openapi-typescript", [], {
    input: JSON.stringify(document),
    encoding: "utf8",
    stdio: ["pipe", "pipe", "inherit"],
    maxBuffer: 64 * 1024 * 1024,
  });
  const opening =
    "// The types of the REST interface, generated from the OpenAPI document by `npm run generate`, do not edit.\n";
  return status === 0 ? opening + stdout.slice(stdout.indexOf("export interface paths")) : undefined;
}

/** The alert rules as a manifest for the Prometheus operator. */
function prometheusRule(): string {
  const rules = readFileSync(rulesFile, "utf8");
  const groups = rules.slice(rules.search(/^groups:$/m));
  return `# The alert rules for the Prometheus operator, generated from ${rulesFile} by \`npm run generate\`, do not edit.
# If your Prometheus selects rules by a label, add that label in your overlay.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: records
spec:
${groups.replace(/^(?=.)/gm, "  ")}`;
}

/** The page on sharded clusters, with its table of collections as the code places them. */
function withPlaces(): string {
  const rows = Object.entries(placements).map(([name, placement]) =>
    "shardKey" in placement
      ? `| \`${name}\` | by \`${placement.shardKey}\` | |`
      : `| \`${name}\` | primary shard | ${placement.whole} |`,
  );
  const page = readFileSync(shardingPage, "utf8");
  return page.replace(/(\| Collection \| Place \|.*\n.*\n)(?:\|.*\n)*/, `$1${rows.join("\n")}\n`);
}
