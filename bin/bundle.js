// Bundles a program: all of its code in one file, which loads in a third of the time that its sources take.
import { mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const root = join(import.meta.dirname, "..");
const programs = { service: "src/main.ts", records: "src/cli/records.ts" };

/** Loaded when it is needed, from its own folder: these read files that lie beside them, or are seldom of use. */
const external = ["@scalar/fastify-api-reference", "mongodb-memory-server", "oidc-provider"];

/** Packages in the older module format ask for Node's modules by `require`. */
const banner = 'import { createRequire as createRequireOfBundle } from "node:module"; const require = createRequireOfBundle(import.meta.url);';

/** The URL of a program's bundle, which is made anew where a source or a package is newer than it. */
export async function bundled(/** @type {keyof typeof programs} */ name) {
  const file = join(root, "dist", `${name}.js`);
  if (!isFresh(file)) await bundle(name, file);
  return pathToFileURL(file).href;
}

async function bundle(name, file) {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    ...{ absWorkingDir: root, entryPoints: [programs[name]], outfile: file, write: false, logLevel: "silent" },
    ...{ bundle: true, platform: "node", format: "esm", target: "node20", external, banner: { js: banner } },
    ...{ minifySyntax: true, minifyWhitespace: true, legalComments: "none", sourcemap: true, sourcesContent: false },
  });
  mkdirSync(join(root, "dist"), { recursive: true });
  // Put in place whole: another process may be reading what was there.
  for (const { path, contents } of outputFiles) {
    const unfinished = `${path}.${process.pid}`;
    writeFileSync(unfinished, contents);
    renameSync(unfinished, path);
  }
}

function isFresh(file) {
  const made = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = ["src", "gateway"].flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)));
  return ["bin/bundle.js", "package.json", "node_modules/.package-lock.json"].map((path) => join(root, path)).concat(sources).every((path) => (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) <= made);
}

if (process.argv[1] === import.meta.filename) await Promise.all(Object.keys(programs).map(bundled));
