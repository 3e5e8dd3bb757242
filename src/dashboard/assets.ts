// The files that the dashboard's page requests, by their paths: a folder whose layout is that of the paths.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { StaticFile } from "../http/static-files.ts";
import { staticFile } from "../http/static-files.ts";
import { packageRoot } from "../root.ts";

const folder = join(packageRoot, "src/dashboard/page");

/** Reads all of them. */
export function readAssets(): ReadonlyMap<string, StaticFile> {
  const modules = readdirSync(join(folder, "dashboard")).filter((name) => name.endsWith(".js"));
  const names = ["dashboard.css", "dashboard.js", "icon.svg", ...modules.map((name) => `dashboard/${name}`)];
  const assets = new Map(names.map((name) => [`/${name}`, staticFile(name, readFileSync(join(folder, name)))]));
  const icon = assets.get("/icon.svg");
  // Browsers request it by this name on pages that are not ours, such as the OpenAPI document.
  if (icon !== undefined) assets.set("/favicon.ico", icon);
  return assets;
}
