// The measured programs: the service and its alternatives.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { BenchAccount, Fixture } from "../fixture.ts";
import type { PeerCommand } from "../processes.ts";
import { bundled } from "../../../bin/bundle.js";
import { nodeOn } from "../processes.ts";

/** All measured programs, with their titles in the table. */
export const peerTitles = {
  ours: "Records",
  floor: "floor: node:http and the driver, no checks",
  floorBucket: "floor with one Redis token for each request",
  fastify: "Fastify",
  fastifyAgg: "Fastify, one aggregation",
} as const;

export type PeerName = keyof typeof peerTitles;

const secret = "bench-secret-of-at-least-32-characters";
/** Throttling stays on, but its limit is out of reach. */
const limits = { RATE_LIMIT: "1000000", RATE_BURST: "1000000" };

export interface PeerOptions {
  readonly reader: BenchAccount;
  /** A folder for the service's data. */
  readonly scratch: string;
  /** The Node that runs the service and the peers. */
  readonly node: string;
  /** Options for Node. With them, programs run from their sources, so that profiles show the original names. */
  readonly nodeOptions?: readonly string[];
}

export async function peerCommands(
  fixture: Fixture,
  { reader, scratch, node, nodeOptions = [] }: PeerOptions,
): Promise<ReadonlyMap<PeerName, PeerCommand>> {
  const parts = { MONGODB_URI: fixture.mongodbUri, REDIS_URL: fixture.redisUrl, ...limits };
  const program = async (source: string): Promise<readonly string[]> =>
    nodeOptions.length === 0 ? [node, await bundled(source)] : nodeOn(source, node, ...nodeOptions);
  const [floor = [], fastify = []] = await Promise.all(
    ["floor", "fastify"].map((peer) => program(`test/bench/peers/${peer}.ts`)),
  );
  const peer = (command: readonly string[], STYLE: string): PeerCommand => ({
    command,
    environment: { ...parts, ACCOUNT: reader.id.toHexString(), STYLE },
  });
  return new Map<PeerName, PeerCommand>([
    ["ours", ours({ ...fixture, node }, join(scratch, "service"), ...nodeOptions)],
    ["floor", peer(floor, "plain")],
    ["floorBucket", peer(floor, "bucket")],
    ["fastify", peer(fastify, "finds")],
    ["fastifyAgg", peer(fastify, "aggregation")],
  ]);
}

/** The service as started in production. With options for Node, such as `--cpu-prof`, it runs from its sources. */
export function ours(parts: ServiceParts, dataDir: string, ...options: string[]): PeerCommand {
  return serviceIn(join(import.meta.dirname, "../../.."), parts, dataDir, ...options);
}

/** The databases of the service, and its Node. */
export type ServiceParts = Pick<Fixture, "mongodbUri" | "redisUrl"> & { readonly node: string };

/** The command of the service in this folder. */
export function serviceIn(
  root: string,
  { mongodbUri, redisUrl, node }: ServiceParts,
  dataDir: string,
  ...options: string[]
): PeerCommand {
  const start = join(root, "bin/start.js");
  return {
    command:
      options.length === 0 && existsSync(start) ? [node, start] : nodeOn(join(root, "src/main.ts"), node, ...options),
    environment: {
      MONGODB_URI: mongodbUri,
      REDIS_URL: redisUrl,
      ...limits,
      INTERNAL_PORT: "0",
      DATA_DIR: dataDir,
      SERVICE_TOKENS: secret,
      SESSION_SECRET: secret,
    },
  };
}
