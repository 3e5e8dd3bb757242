// Which tests a run leaves out, because the machine lacks what they need: that is said, and how to get it.
import { findChromium, withoutChromium } from "../browser/chromium.ts";
import { findRunner, withoutRunner } from "../mcp/conformance/runner.ts";

/** The tests that cannot run here. */
export const leftOut: readonly { readonly files: string; readonly notice: string }[] = [
  ...(findChromium() === undefined ? [{ files: "test/browser/**", notice: withoutChromium }] : []),
  ...(findRunner() === undefined ? [{ files: "test/mcp/conformance/**", notice: withoutRunner }] : []),
];
