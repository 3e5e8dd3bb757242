// The error of an invalid setting.

/** An invalid value in the environment. The message names the variable. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly variable: string;
  /** The problem with the value, phrased to follow the variable's name in a sentence. */
  readonly problem: string;

  constructor(variable: string, problem: string) {
    super(`${variable}: ${problem}`);
    this.variable = variable;
    this.problem = problem;
  }
}
