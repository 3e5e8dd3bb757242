// Serves the guide on the public listener: its pages under /guide, and the files that they load.
import type { PageDependencies } from "../http/pages.ts";
import { handlePages } from "../http/pages.ts";
import type { Surface } from "../call/exchange.ts";

const root = "/guide";

/** Creates the surface. Reads the sources when the first page is requested. */
export function createGuide(dependencies: PageDependencies): Surface {
  const load = async () => (await import("./guide.ts")).openGuide(dependencies.baseUrl());
  return {
    serves: (path) => path === root || path.startsWith(`${root}/`),
    routeOf: (path) => (path === root ? path : /^\/guide\/[a-z-]+$/.test(path) ? `${root}/{page}` : `${root}/{asset}`),
    handle: handlePages(load, policies, dependencies),
  };
}

const policies = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];
