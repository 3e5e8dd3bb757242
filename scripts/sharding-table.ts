// Generates the guide's table of where each collection lives on a sharded cluster.
import { readFileSync, writeFileSync } from "node:fs";
import { placements } from "../src/db/sharding.ts";

export const placesFile = "docs/sharding.md";

export function generatePlaces(): true {
  writeFileSync(placesFile, withPlaces(readFileSync(placesFile, "utf8")));
  return true;
}

/** Whether the page's table is up to date with the code. */
export function arePlacesGenerated(): boolean {
  const page = readFileSync(placesFile, "utf8");
  return page === withPlaces(page);
}

/** The page, with its rows replaced by those from the code. */
export function withPlaces(page: string): string {
  const rows = Object.entries(placements).map(([name, placement]) =>
    "shardKey" in placement
      ? `| \`${name}\` | by \`${placement.shardKey}\` | |`
      : `| \`${name}\` | primary shard | ${placement.whole} |`,
  );
  return page.replace(/(\| Collection \| Place \|.*\n.*\n)(?:\|.*\n)*/, `$1${rows.join("\n")}\n`);
}
