// The API reference on the public listener: its page at /docs, and the files of the page.
import type { Pages, PageDependencies } from "../http/pages.ts";
import { handlePages } from "../http/pages.ts";
import type { Surface } from "../call/exchange.ts";
import { assetFolder, readAssets } from "./assets.ts";
import { referencePage } from "./page.ts";

const pagePath = "/docs";

/** Creates the surface. Its files are read on the first request for one of them. */
export function createReference(dependencies: PageDependencies): Surface {
  async function load(): Promise<Pages> {
    const assets = await readAssets();
    return {
      page: (path) => (path === pagePath ? referencePage(assets, dependencies.baseUrl()) : undefined),
      file: (path) => Object.values(assets).find((one) => one.path === path),
    };
  }
  return {
    serves: (path) => path === pagePath || path.startsWith(assetFolder),
    routeOf: (path) => (path === pagePath ? path : `${assetFolder}{asset}`),
    handle: handlePages(load, policies, dependencies),
  };
}

/** The renderer sets styles from its script, and shows fetched data as pictures and downloads. */
const policies = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];
