// Context of the checks: the settings, and the addresses of the dependencies, whether configured or embedded.
import { embeddedDependencies } from "../../embedded/running.ts";
import { CommandError } from "../exit.ts";
import { findService, readDemo } from "../where.ts";
import type { Clocks } from "./clocks.ts";
import { createClocks } from "./clocks.ts";
import type { Settings } from "./settings.ts";
import { readSettings } from "./settings.ts";

/** Options of a run of the doctor. */
export interface DoctorOptions {
  /** The internal listener, if it differs from that of the settings. */
  readonly url?: string | undefined;
  readonly tokenFile?: string | undefined;
  /** Registers a client at the identity provider, as an assistant does. The client remains there. */
  readonly register?: boolean | undefined;
  /** Returns this machine's time, in milliseconds of Unix time. */
  readonly now?: (() => number) | undefined;
}

/** The identity provider. */
export interface ProviderSettings {
  readonly issuer: string;
  /** Undefined for the development provider. The service creates its client at each start, and does not disclose it. */
  readonly client: { readonly id: string; readonly secret: string } | undefined;
}

export interface DoctorContext extends Settings {
  /** Undefined if it is embedded and does not run. */
  readonly mongodbUri: string | undefined;
  readonly redisUrl: string | undefined;
  /** Undefined if sign-in is off, or the development provider has never run. */
  readonly provider: ProviderSettings | undefined;
  /** The public base URL; undefined if its port is chosen at each start and the service does not run. */
  readonly baseUrl: string | undefined;
  readonly mcpUrl: string | undefined;
  readonly internalUrl: string | undefined;
  readonly serviceToken: string | undefined;
  /** The reason why there is no internal address or token. */
  readonly noService: string | undefined;
  readonly register: boolean;
  readonly now: () => number;
  readonly clocks: Clocks;
}

/** Reads the settings and finds the embedded dependencies. Sends nothing over the network. */
export async function createDoctorContext(
  environment: NodeJS.ProcessEnv,
  { url, tokenFile, register = false, now = Date.now }: DoctorOptions,
): Promise<DoctorContext> {
  const settings = readSettings(environment);
  const { config } = settings;
  const embedded = await embeddedDependencies(config.dataDir);
  const demo = config.mongodbUri === undefined && config.oidc === undefined;
  // A configured port takes precedence over the address that an earlier start may have left.
  const keptUrl = demo && (config.port === 0 || !environment["PORT"]) ? readDemo(config.dataDir).base_url : undefined;
  const baseUrl = config.baseUrl ?? keptUrl ?? (config.port === 0 ? undefined : `http://localhost:${config.port}`);
  return {
    ...settings,
    mongodbUri: config.mongodbUri ?? embedded.mongodbUri,
    redisUrl: config.redisUrl ?? embedded.redisUrl,
    provider:
      config.oidc === undefined
        ? demo && embedded.issuer !== undefined
          ? { issuer: embedded.issuer, client: undefined }
          : undefined
        : { issuer: config.oidc.issuer, client: { id: config.oidc.clientId, secret: config.oidc.clientSecret } },
    baseUrl,
    mcpUrl: config.mcpUrl ?? (baseUrl === undefined ? undefined : `${baseUrl}/mcp`),
    ...internal(),
    register,
    now,
    clocks: createClocks(now),
  };

  function internal(): Pick<DoctorContext, "internalUrl" | "serviceToken" | "noService"> {
    try {
      const where = findService({ url, tokenFile }, environment);
      return { internalUrl: where.url, serviceToken: where.token, noService: undefined };
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      return { internalUrl: undefined, serviceToken: undefined, noService: error.message };
    }
  }
}
