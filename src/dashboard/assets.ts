// The files that the dashboard's page asks for, by their paths: a folder whose layout is that of the paths.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { extname, join } from "node:path";
import { packageRoot } from "../root.ts";

/** A file as it is served. */
export interface Asset {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
}

const folder = join(packageRoot, "src/dashboard/page");

const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Reads all of them. */
export function readAssets(): ReadonlyMap<string, Asset> {
  const assets = new Map<string, Asset>();
  for (const name of ["dashboard.css", "dashboard.js", "icon.svg", ...modules()]) {
    const body = readFileSync(join(folder, name));
    const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
    assets.set(`/${name}`, { type: types[extname(name)] ?? "application/octet-stream", body, etag });
  }
  const icon = assets.get("/icon.svg");
  // Browsers ask for it by this name on pages that are not ours, such as the OpenAPI document.
  if (icon !== undefined) assets.set("/favicon.ico", icon);
  return assets;
}

function modules(): string[] {
  return readdirSync(join(folder, "dashboard"))
    .filter((name) => name.endsWith(".js"))
    .map((name) => `dashboard/${name}`);
}
