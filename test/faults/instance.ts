// An instance as a process of its own, for tests that kill it: it prints its ports.
import { startApp } from "../../src/app.ts";
import type { LogLevel } from "../../src/config.ts";
import { readConfig } from "../../src/config.ts";
import { createLog } from "../../src/log.ts";

const config = readConfig(process.env);
const log = createLog((process.env["LOG_LEVEL"] ?? "silent") as LogLevel, process.stderr);
const { mongodbUri, redisUrl, serviceTokens = [], sessionSecrets = [""], oidc } = config;
if (mongodbUri === undefined) throw new Error("MONGODB_URI is required");
const parts = { mongodbUri, redisUrl, serviceTokens, sessionSecrets, oidc };
const app = await startApp(config, parts, log);
process.stdout.write(`${JSON.stringify({ port: app.port, internalPort: app.internalPort })}\n`);
process.once("SIGTERM", () => void app.stop(2_000).then(() => process.exit(0)));
process.stdin.resume().once("end", () => process.exit());
