// Runs all groups of checks, and returns their findings as one list.
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
import type { DoctorOptions, DoctorContext } from "./doctor-context.ts";
import { createDoctorContext } from "./doctor-context.ts";

/**
 * Runs all checks with the service's own environment. Writes nothing, unless it registers a client. The findings
 * contain no secret.
 */
export async function runDoctor(
  environment: NodeJS.ProcessEnv,
  options: DoctorOptions = {},
): Promise<readonly Finding[]> {
  const context = await createDoctorContext(environment, options);
  // Runs alone, because it measures latencies, which the work of the other groups would increase.
  const redis = await group("redis", () => checkRedis(context));
  const running = findRunning(context);
  const groups = await Promise.all([
    group("configuration", () => Promise.resolve(checkConfiguration(context))),
    group("mongodb", () => checkMongo(context)),
    group("certificates", () => checkCertificates(context)),
    group("provider", () => checkProvider(context)),
    group("service", async () => checkService(context, await running)),
    group("mcp", async () => checkMcp(context, await running)),
  ]);
  const [configuration = [], mongodb = [], ...rest] = groups;
  return [configuration, mongodb, redis, context.clocks.findings(), ...rest].flat().map(redacted(context));
}

/** Returns whether any finding is a fault. */
export function hasFault(findings: readonly Finding[]): boolean {
  return findings.some(({ status }) => status === "fault");
}

/** Runs a group. An error in it becomes a finding of the group, and does not affect the others. */
async function group(name: string, work: () => Promise<Finding[]>): Promise<Finding[]> {
  return work().catch(async (error: unknown) => [await check(`${name}.checks`, () => Promise.reject(error))]);
}

function redacted({ config, mongodbUri, redisUrl, serviceToken }: DoctorContext): (finding: Finding) => Finding {
  const redact = createRedaction({ ...config, mongodbUri, redisUrl }, serviceToken);
  return ({ check: name, status, message, fix }) => ({
    check: name,
    status,
    message: redact(message),
    fix: fix === null ? null : redact(fix),
  });
}
