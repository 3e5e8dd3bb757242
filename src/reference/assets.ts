// The files that the reference page asks for: Scalar's renderer as it is in its package, and our own beside it.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { packageRoot } from "../root.ts";

/** What a client may be sent: `identity` is the file as it is. */
export type Encoding = "br" | "gzip" | "identity";

/** A file as it is served. */
export interface Asset {
  /** Holds a hash of the file, so that it can be kept for ever. */
  readonly path: string;
  readonly type: string;
  /** In base64url, of 128 bits. */
  readonly hash: string;
  /** The body. Each encoding is made when it is first asked for, and kept. */
  encoded(encoding: Encoding): Promise<Buffer>;
}

/** The files of the page. */
export interface Assets {
  readonly renderer: Asset;
  readonly start: Asset;
  readonly style: Asset;
}

/** The folder, as a path, under which all of them are. */
export const assetFolder = "/docs/";

const script = "text/javascript; charset=utf-8";
const page = join(packageRoot, "src/reference/page");

/** Reads all of them (4 MB). Fails where one cannot be read. */
export async function readAssets(): Promise<Assets> {
  // Only the file is of use: the package's own code serves another web framework.
  const scalar = createRequire(import.meta.url).resolve("@scalar/fastify-api-reference");
  const [renderer, start, style] = await Promise.all([
    readAsset("renderer.js", script, join(scalar, "../js/standalone.js")),
    readAsset("start.js", script, join(page, "start.js")),
    readAsset("reference.css", "text/css; charset=utf-8", join(page, "reference.css")),
  ]);
  return { renderer, start, style };
}

/** The compressed encodings, the smallest first. */
export const smallerEncodings = ["br", "gzip"] as const satisfies readonly Encoding[];

async function readAsset(name: string, type: string, file: string): Promise<Asset> {
  const body = await readFile(file);
  const hash = createHash("sha256").update(body).digest("base64url").slice(0, 22);
  const made = new Map<Encoding, Promise<Buffer>>([["identity", Promise.resolve(body)]]);
  return {
    path: `${assetFolder}${hash}/${name}`,
    type,
    hash,
    encoded(encoding) {
      const known = made.get(encoding);
      if (known !== undefined) return known;
      const making = encoding === "br" ? compressBrotli(body) : compressGzip(body);
      made.set(encoding, making);
      making.catch(() => made.delete(encoding));
      return making;
    },
  };
}

const compressGzip = promisify<Buffer, Buffer>(gzip);

/** Above this quality a file of 4 MB takes several times as long, and is hardly smaller. */
const quality = 6;

function compressBrotli(body: Buffer): Promise<Buffer> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: body.length };
  return promisify(brotliCompress)(body, { params });
}
