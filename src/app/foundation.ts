// What every part of an instance is made from, and how what was opened is closed.
import type { Logger } from "pino";
import type { Config, OidcConfig } from "../config.ts";
import type { Observability } from "../observability/observability.ts";

/** Where the dependencies are that an instance needs. */
export interface Dependencies {
  readonly mongodbUri: string;
  /** Undefined where no Redis can be had: each instance is then on its own. */
  readonly redisUrl: string | undefined;
  readonly serviceTokens: readonly string[];
  /** Undefined where there is no identity provider: sign-in is off. */
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
  /** Complete once the ports are open. An open port means that the instance is ready, so it is opened last. */
  readonly where: { baseUrl: string; mcpUrl: string };
  readonly state: {
    stopping: boolean;
    idleMs: number;
    /** When the grace of the stop is over, in milliseconds of `performance.now()`. */
    stopBy: number;
  };
}

/** How to close what was opened, the last of it first. */
export type Opened = (() => Promise<void> | void)[];

/** Closes everything. What cannot be closed leaves none of the others open. */
export async function closeAll(opened: Opened): Promise<void> {
  const close = opened.pop();
  if (close === undefined) return;
  await Promise.resolve()
    .then(close)
    .finally(() => closeAll(opened));
}
