// The error of a setting that has a wrong value.

/** A wrong value in the environment; the message names the variable. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly variable: string;
  /** What is wrong with its value, to follow the variable's name in a sentence. */
  readonly problem: string;

  constructor(variable: string, problem: string) {
    super(`${variable}: ${problem}`);
    this.variable = variable;
    this.problem = problem;
  }
}
