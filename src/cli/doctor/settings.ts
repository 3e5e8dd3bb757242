// Reads the environment as the service does, but to the end: every wrong variable, not only the first.
import { ConfigError } from "../../config-error.ts";
import { readConfig, secretSettings } from "../../config.ts";
import type { Config } from "../../config.ts";
import { fileVariable } from "../../secret-files.ts";

/** The settings, as far as they can be used. */
export interface Settings {
  readonly config: Config;
  /** What is wrong, by variable. In `config` each of them has a value in its place that stands for nothing. */
  readonly wrong: ReadonlyMap<string, string>;
  /** Whether the value of a variable, or the file that holds it, is wrong: what depends on it is not checked. */
  unusable(name: string): boolean;
}

/** Nothing is ever requested there: what depends on a wrong variable is not checked. */
const nowhere = "127.0.0.1:9";
const standIns: Readonly<Record<string, string>> = {
  MONGODB_URI: `mongodb://${nowhere}/`,
  REDIS_URL: `redis://${nowhere}`,
  OIDC_ISSUER: `http://${nowhere}`,
  OIDC_CLIENT_ID: "stand-in",
  OIDC_CLIENT_SECRET: "stand-in",
  SERVICE_TOKENS: "stand-in of a token of 32 characters or more",
  SESSION_SECRET: "stand-in of a secret of 32 characters or more",
};
/** More wrong variables than there are variables cannot be. */
const most = 50;

/** Reads on with a stand-in, or without the variable, wherever one is wrong. */
export function readSettings(environment: NodeJS.ProcessEnv): Settings {
  const corrected = { ...environment };
  const wrong = new Map<string, string>();
  for (let attempt = 0; attempt < most; attempt++) {
    try {
      return {
        config: readConfig(corrected),
        wrong,
        unusable: (name) => wrong.has(name) || wrong.has(fileVariable(name)),
      };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const { variable: name, problem } = error;
      // Of the two dates neither is alone: without one the other would be found wrong as well.
      if (/^V1_(DEPRECATED|SUNSET)_AT$/.test(name))
        delete corrected[name === "V1_SUNSET_AT" ? "V1_DEPRECATED_AT" : "V1_SUNSET_AT"];
      wrong.set(name, problem);
      delete corrected[name];
      // A secret whose file cannot be read is no secret that is not set.
      const meant = secretSettings.find((secret) => fileVariable(secret) === name) ?? name;
      const [standInFor, standIn] =
        meant === "SESSION_SECRETS" ? ["SESSION_SECRET", standIns["SESSION_SECRET"]] : [meant, standIns[meant]];
      if (standIn !== undefined) corrected[standInFor] = standIn;
    }
  }
  throw new Error("the environment cannot be read");
}
