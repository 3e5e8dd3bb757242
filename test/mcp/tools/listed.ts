// Set-up for tests of the tools: a signed-in user, the listed tools, and checks of schemas.
import { createRequire } from "node:module";
import type { Ajv2020, ValidateFunction } from "ajv/dist/2020.js";
import { beforeAll } from "vitest";
import type { SignInFixture } from "../../fixtures/sign-in/fixture.ts";
import type { Holder } from "./set-up.ts";
import { holderOf, request } from "./set-up.ts";

const require = createRequire(import.meta.url);
const AjvClass = (require("ajv/dist/2020") as { default: typeof Ajv2020 }).default;
const addFormats = (require("ajv-formats") as { default: (ajv: Ajv2020) => unknown }).default;

export interface Listed {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: Record<string, unknown>;
  readonly inputSchema: {
    readonly type: string;
    readonly properties: Record<string, { readonly description?: string }>;
    readonly required: readonly string[];
    readonly additionalProperties: boolean;
  };
  readonly outputSchema: { readonly type: string; readonly required: readonly string[] };
}

export const ajv = addFormats(new AjvClass({ strict: true, strictRequired: false, allowUnionTypes: true })) as Ajv2020;

/** Signs a user in, and lists the tools, before the tests of the file. */
export function useListed(fixture: () => SignInFixture) {
  let holder: Holder;
  let listed: readonly Listed[];
  const compiled = new Map<string, ValidateFunction>();
  beforeAll(async () => {
    holder = await holderOf(fixture());
    listed = (await request(holder, "2026-07-28", "tools/list")).body.result.tools as Listed[];
  });

  /** The violations of a tool's schema by a value. */
  function flaws(name: string, part: "inputSchema" | "outputSchema", value: unknown): unknown {
    const validate =
      compiled.get(name + part) ?? ajv.compile((listed.find((tool) => tool.name === name) as Listed)[part]);
    compiled.set(name + part, validate);
    return validate(value) ? [] : validate.errors;
  }
  return { holder: () => holder, listed: () => listed, flaws };
}
