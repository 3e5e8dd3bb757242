// What `bundle.js` gives to the tests and the bench.
import type { Plugin } from "esbuild";

/** A program that is bundled in another way: its folder's name ends with this one. */
export interface Variant {
  readonly name: string;
  readonly plugins: readonly Plugin[];
}
export function bundled(source: string, variant?: Variant): Promise<string>;
export function run(source: string): Promise<void>;
