// Types of `bundle.js`, for the tests and the bench.
import type { Plugin } from "esbuild";

/** A bundle with additional plugins, in a folder whose name ends with `name`. */
export interface Variant {
  readonly name: string;
  readonly plugins: readonly Plugin[];
}
export function bundled(source: string, variant?: Variant): Promise<string>;
export function run(source: string): Promise<void>;
