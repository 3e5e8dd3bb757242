// Reads the environment as the service does, but reports every invalid variable instead of only the first.
import { ConfigError } from "../../config/config-error.ts";
import { readConfig, secretSettings } from "../../config/config.ts";
import type { Config } from "../../config/config.ts";
import { fileVariable } from "../../config/secret-files.ts";

/** The settings, as far as they are valid. */
export interface Settings {
  readonly config: Config;
  /** The problems by variable. In `config`, each of these variables is missing or has a meaningless stand-in. */
  readonly wrong: ReadonlyMap<string, string>;
  /** Returns whether a variable, or the file with its value, is invalid. Checks that depend on it are skipped. */
  unusable(name: string): boolean;
}

/** The host in stand-ins. Nothing is sent to it, because checks that depend on an invalid variable are skipped. */
const nowhere = "127.0.0.1:9";
const standIns: Readonly<Record<string, string>> = {
  MONGODB_URI: `mongodb://${nowhere}/`,
  REDIS_URL: `redis://${nowhere}`,
  OIDC_ISSUER: `http://${nowhere}`,
  OIDC_CLIENT_ID: "stand-in",
  OIDC_CLIENT_SECRET: "stand-in",
  SERVICE_TOKENS: "stand-in-of-a-token-of-32-characters-or-more",
  SESSION_SECRET: "stand-in of a secret of 32 characters or more",
};
/** An upper bound on the number of invalid variables. */
const maxAttempts = 50;

/** Reads the settings. Replaces each invalid variable by a stand-in or removes it, and continues. */
export function readSettings(environment: NodeJS.ProcessEnv): Settings {
  const corrected = { ...environment };
  const wrong = new Map<string, string>();
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    try {
      return {
        config: readConfig(corrected),
        wrong,
        unusable: (name) => wrong.has(name) || wrong.has(fileVariable(name)),
      };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const { variable: name, problem } = error;
      // The two dates require each other: without one, the other would be reported as invalid as well.
      if (/^V1_(DEPRECATED|SUNSET)_AT$/.test(name))
        delete corrected[name === "V1_SUNSET_AT" ? "V1_DEPRECATED_AT" : "V1_SUNSET_AT"];
      wrong.set(name, problem);
      delete corrected[name];
      // A secret whose file cannot be read must not also be reported as missing.
      const meant = secretSettings.find((secret) => fileVariable(secret) === name) ?? name;
      const [standInFor, standIn] =
        meant === "SESSION_SECRETS" ? ["SESSION_SECRET", standIns["SESSION_SECRET"]] : [meant, standIns[meant]];
      if (standIn !== undefined) corrected[standInFor] = standIn;
    }
  }
  throw new Error("the environment cannot be read");
}
