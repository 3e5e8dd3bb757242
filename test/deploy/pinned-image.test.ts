// The pinning of the image by its digest.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import type { Kustomization } from "./kubernetes.ts";
import { root } from "./settings.ts";

test("the documented command pins the image by its digest instead of its tag", () => {
  const folder = mkdtempSync(join(tmpdir(), "records-pin-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  copyFileSync(join(root, "deploy/kubernetes/example/kustomization.yaml"), join(folder, "kustomization.yaml"));
  const guide = readFileSync(join(root, "deploy/README.md"), "utf8");
  const [, command] = /^\$ (sed -i .* kustomization\.yaml)$/m.exec(guide) ?? [];
  const digest = `sha256:${"0a".repeat(32)}`;
  execFileSync("sh", ["-ec", command ?? "false"], { cwd: folder, env: { ...process.env, digest } });
  const { images } = parse(readFileSync(join(folder, "kustomization.yaml"), "utf8")) as Kustomization;
  expect(images).toEqual([{ name: "records", newName: "registry.example.com/records", digest }]);
});
