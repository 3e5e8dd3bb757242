// The tests that are skipped because the machine lacks something, each with a notice on how to get it.
import { hasCommit } from "../fixtures/service/older.ts";
import { releasedCommit, withoutRelease } from "../drills/upgrade/release.ts";
import { canMakeEnvironments, withoutEnvironments } from "../../scripts/python-tool.ts";
import { findPromtool, withoutPromtool } from "../alerts/promtool.ts";
import { caddy, nginx } from "../deploy/proxy/programs.ts";
import { findChromium, withoutChromium } from "../fixtures/chromium.ts";
import { withoutCurl, withoutPython } from "../examples/run.ts";
import { missingForHydra } from "../fixtures/providers/hydra.ts";
import { isInstalled } from "../fixtures/installed.ts";
import { oapiCodegen } from "../../scripts/generated-clients/go.ts";
import { missingForJava } from "../../scripts/generated-clients/openapi-generator.ts";
import { openApiGeneratorJava } from "../../scripts/generated-clients/java.ts";
import { openApiPythonClient } from "../../scripts/generated-clients/python.ts";

/** The tests that cannot run here. Without `files`, part of a file, which skips it by itself. */
export const leftOut: readonly { readonly files?: string; readonly notice: string }[] = [
  ...(findChromium() === undefined ? [{ files: "test/browser/**", notice: withoutChromium }] : []),
  ...(findPromtool() === undefined ? [{ files: "test/alerts/**", notice: withoutPromtool }] : []),
  ...[caddy, nginx]
    .filter((kind) => kind.find() === undefined)
    .map(({ name, without }) => ({ files: `test/deploy/proxy/${name.toLowerCase()}.test.ts`, notice: without })),
  ...(isInstalled("curl") ? [] : [{ files: "test/examples/curl.test.ts", notice: withoutCurl }]),
  ...(isInstalled("python3") ? [] : [{ files: "test/examples/python.test.ts", notice: withoutPython }]),
  ...(hasCommit(releasedCommit) ? [] : [{ files: "test/drills/upgrade.test.ts", notice: withoutRelease }]),
  ...[oapiCodegen, openApiPythonClient, openApiGeneratorJava].flatMap(({ language, missing }) => {
    const files = `test/generated-clients/${language.toLowerCase()}.test.ts`;
    const lacking = missing();
    return lacking === undefined ? [] : [{ files, notice: `${files} is LEFT OUT: it needs ${lacking}.` }];
  }),
  ...(
    [
      ["test/providers/keycloak.test.ts", missingForJava()],
      ["test/providers/hydra.test.ts", missingForHydra()],
    ] as const
  ).flatMap(([files, lacking]) =>
    lacking === undefined ? [] : [{ files, notice: `${files} is LEFT OUT: it needs ${lacking}.` }],
  ),
  ...(canMakeEnvironments()
    ? []
    : [
        ...["test/schemathesis/**", "test/deploy/schemas.test.ts"].map((files) => ({
          files,
          notice: `${withoutEnvironments}: ${files} is LEFT OUT.`,
        })),
        { notice: `${withoutEnvironments}: the Python clients of test/mcp/clients are LEFT OUT.` },
      ]),
];
