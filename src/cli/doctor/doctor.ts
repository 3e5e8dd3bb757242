// Runs every group of checks beside each other, and makes of it one list of findings.
import { checkCertificates } from "./certificates.ts";
import type { Finding } from "./check.ts";
import { check } from "./check.ts";
import { checkConfiguration } from "./configuration.ts";
import { checkMcp } from "./mcp.ts";
import { checkMongo } from "./mongodb.ts";
import { checkProvider } from "./provider.ts";
import { checkRedis } from "./redis.ts";
import { createRedaction } from "./redaction.ts";
import { checkService, findRunning } from "./service.ts";
import type { DoctorOptions, Surroundings } from "./surroundings.ts";
import { findSurroundings } from "./surroundings.ts";

/**
 * Checks everything from the service's own environment. Writes nothing anywhere, unless it is to register. Never
 * holds a secret.
 */
export async function runDoctor(
  environment: NodeJS.ProcessEnv,
  options: DoctorOptions = {},
): Promise<readonly Finding[]> {
  const surroundings = await findSurroundings(environment, options);
  // Alone, as its times are reported: what the others load and request would be in them.
  const redis = await group("redis", () => checkRedis(surroundings));
  const running = findRunning(surroundings);
  const groups = await Promise.all([
    group("configuration", () => Promise.resolve(checkConfiguration(surroundings))),
    group("mongodb", () => checkMongo(surroundings)),
    group("certificates", () => checkCertificates(surroundings)),
    group("provider", () => checkProvider(surroundings)),
    group("service", async () => checkService(surroundings, await running)),
    group("mcp", async () => checkMcp(surroundings, await running)),
  ]);
  const [configuration = [], mongodb = [], ...rest] = groups;
  return [configuration, mongodb, redis, surroundings.clocks.findings(), ...rest].flat().map(redacted(surroundings));
}

/** Whether any of them is a fault. */
export function hasFault(findings: readonly Finding[]): boolean {
  return findings.some(({ status }) => status === "fault");
}

/** A group that breaks is a fault of its own, and none of the others'. */
async function group(name: string, work: () => Promise<Finding[]>): Promise<Finding[]> {
  return work().catch(async (error: unknown) => [await check(`${name}.checks`, () => Promise.reject(error))]);
}

function redacted({ config, mongodbUri, redisUrl, serviceToken }: Surroundings): (finding: Finding) => Finding {
  const redact = createRedaction({ ...config, mongodbUri, redisUrl }, serviceToken);
  return ({ check: name, status, message, mend }) => ({
    check: name,
    status,
    message: redact(message),
    mend: mend === null ? null : redact(mend),
  });
}
