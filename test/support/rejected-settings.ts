// The message with which a start rejects settings.
import { expect } from "vitest";
import { ConfigError } from "../../src/config/config-error.ts";
import { readConfig } from "../../src/config/config.ts";

/** Fails where the settings are accepted. */
export function rejection(environment: NodeJS.ProcessEnv): string {
  try {
    readConfig(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message;
  }
  throw new Error(`${JSON.stringify(environment)} was taken`);
}
