// Settings, dependencies and state that the parts of an instance share, and the closing of opened resources.
import type { Logger } from "pino";
import type { Config, OidcConfig } from "../config/config.ts";
import type { Observability } from "../observability/observability.ts";

/** Addresses and secrets of an instance's dependencies. */
export interface Dependencies {
  readonly mongodbUri: string;
  /** Undefined if there is no Redis. Each instance then works on its own. */
  readonly redisUrl: string | undefined;
  /** How long a request waits for Redis, in milliseconds. By default 50. */
  readonly redisTimeoutMs?: number;
  readonly serviceTokens: readonly string[];
  /** Undefined if there is no identity provider. Sign-in is then off. */
  readonly oidc: OidcConfig | undefined;
  readonly sessionSecrets: NonNullable<Config["sessionSecrets"]>;
}

/** The settings, the dependencies and the state of an instance. */
export interface Foundation {
  readonly config: Config;
  readonly dependencies: Dependencies;
  readonly log: Logger;
  readonly observability: Observability;
  readonly opened: Opened;
  /** Complete once the ports are open. They open last, because an open port means that the instance is ready. */
  readonly where: { baseUrl: string; mcpUrl: string };
  readonly state: {
    stopping: boolean;
    idleMs: number;
    /** When the grace period of the stop ends, in milliseconds of `performance.now()`. */
    stopBy: number;
  };
}

/** Functions that close the opened resources. They are called in reverse order. */
export type Opened = (() => Promise<void> | void)[];

/** Closes everything, even if closing one of the resources fails. Then it rejects. */
export async function closeAll(opened: Opened): Promise<void> {
  const close = opened.pop();
  if (close === undefined) return;
  await Promise.resolve()
    .then(close)
    .finally(() => closeAll(opened));
}
