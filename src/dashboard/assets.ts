// The files of the dashboard's page, by path, from a folder with the same layout as the paths.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { StaticFile } from "../http/static-files.ts";
import { staticFile } from "../http/static-files.ts";
import { packageRoot } from "../process/root.ts";

const folder = join(packageRoot, "src/dashboard/page");

/** Reads all files. Throws if one cannot be read. */
export function readAssets(): ReadonlyMap<string, StaticFile> {
  const modules = readdirSync(join(folder, "dashboard")).filter((name) => name.endsWith(".js"));
  const names = ["dashboard.css", "dashboard.js", "icon.svg", ...modules.map((name) => `dashboard/${name}`)];
  const assets = new Map(names.map((name) => [`/${name}`, staticFile(name, readFileSync(join(folder, name)))]));
  const icon = assets.get("/icon.svg");
  // Browsers request the icon by this name on pages without a link to it, such as the OpenAPI document.
  if (icon !== undefined) assets.set("/favicon.ico", icon);
  return assets;
}
