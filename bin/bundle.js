// Bundles a program into a few files, which load in a third of the time that its sources take.
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import nodeModule from "node:module";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const root = join(import.meta.dirname, "..");
/** The compile cache of Node 22 and later, which saves a sixth of a start's processor time. */
const compileCache = join(root, "dist", "compile-cache");

/** Packages that stay outside the bundle, because they read files next to their sources or are seldom used. */
const external = ["@scalar/fastify-api-reference", "mongodb-memory-server", "oidc-provider"];

/** CommonJS packages load Node's modules by `require`. */
const banner =
  'import { createRequire as createRequireOfBundle } from "node:module"; const require = createRequireOfBundle(import.meta.url);';

/**
 * Returns the path of a program's bundle. `source` is relative to the root. Rebuilds the bundle if a source or a
 * package is newer. A variant has its own plugins, and is stored under its own name.
 */
export async function bundled(source, variant = { name: "", plugins: [] }) {
  const main = join(root, "dist", `${source.replace(/\.ts$/, "")}${variant.name}`, "main.js");
  if (!isFresh(main, source)) await bundle(source, dirname(main), variant.plugins);
  return main;
}

/**
 * Runs a program from its bundle, with stack traces that point to the sources. Exits with 1 if the bundle cannot be
 * written.
 */
export async function run(source) {
  process.setSourceMapsEnabled(true);
  const main = await bundled(source).catch((error) => {
    if (!(error instanceof UnwritableError)) throw error;
    process.stderr.write(`records: ${error.message}\n`, () => process.exit(1));
    return new Promise(() => undefined);
  });
  nodeModule.enableCompileCache?.(compileCache);
  await import(pathToFileURL(main).href);
}

/** Thrown if the folder for bundles cannot be written. */
class UnwritableError extends Error {}

/** An empty source map. The maps of packages would be most of what Node reads before it starts. */
const noMap = `//# sourceMappingURL=data:application/json;base64,${Buffer.from('{"version":3,"sources":[""],"mappings":"AAAA"}').toString("base64")}`;
const unmappedPackages = {
  name: "unmapped packages",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, ({ path }) => ({
      contents: `${readFileSync(path, "utf8")}\n${noMap}`,
      loader: "js",
    })),
};

async function bundle(source, folder, plugins) {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    ...{
      absWorkingDir: root,
      entryPoints: [source],
      outdir: folder,
      entryNames: "main",
      chunkNames: "[name]-[hash]",
      write: false,
      logLevel: "silent",
    },
    // Code that is loaded later or never is in separate files: reading it would be a third of the start.
    ...{
      bundle: true,
      splitting: true,
      platform: "node",
      format: "esm",
      target: "node20",
      external,
      banner: { js: banner },
    },
    ...{
      minifySyntax: true,
      minifyWhitespace: true,
      legalComments: "none",
      sourcemap: true,
      sourcesContent: false,
      plugins: [...plugins, unmappedPackages],
    },
  });
  try {
    put(outputFiles, folder);
  } catch (error) {
    throw new UnwritableError(
      `${folder} cannot be written (${error.code}). A new version of the program is bundled there at its first start. Make the folder writable, free disk space, or start the program once as a user who may write there.`,
      { cause: error },
    );
  }
}

/** Writes the files of a bundle, and removes those of an earlier bundle. */
function put(outputFiles, folder) {
  mkdirSync(folder, { recursive: true });
  // The cache is keyed by file names, which change: entries of earlier bundles would never be removed.
  rmSync(compileCache, { recursive: true, force: true });
  // Another process may be starting, so each file appears only when complete, and the entry point comes last.
  for (const { path, contents } of outputFiles.sort((a, b) => Number(isMain(a)) - Number(isMain(b)))) {
    const unfinished = `${path}.${process.pid}`;
    writeFileSync(unfinished, contents);
    renameSync(unfinished, path);
  }
  const made = new Set(outputFiles.map(({ path }) => path));
  for (const path of readdirSync(folder).map((file) => join(folder, file)))
    if (/\.(js|map)$/.test(path) && !made.has(path)) rmSync(path, { force: true });
}

function isMain({ path }) {
  return basename(path) === "main.js";
}

function isFresh(main, source) {
  const made = modified(main);
  const sources = ["src", "gateway", dirname(source)].flatMap(filesIn);
  return ["bin/bundle.js", "package.json", "node_modules/.package-lock.json"]
    .map((path) => join(root, path))
    .concat(sources)
    .every((path) => modified(path) <= made);
}

function filesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Returns the modification time in milliseconds; 0 if the file does not exist. */
function modified(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
