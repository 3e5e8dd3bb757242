// The message with which the service rejects settings on startup.
import { expect } from "vitest";
import { ConfigError } from "../../src/config/config-error.ts";
import { readConfig } from "../../src/config/config.ts";

/** Throws if the settings are accepted. */
export function rejection(environment: NodeJS.ProcessEnv): string {
  try {
    readConfig(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message;
  }
  throw new Error(`${JSON.stringify(environment)} was accepted`);
}
