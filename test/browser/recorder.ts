// Records what a page contacts: every address in the browser, and every host that it would reach over the
// network.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { openWindow } from "./pages.ts";

/** A page under watch. */
export interface Recorded {
  readonly page: Page;
  /** Errors of scripts, and what the Content-Security-Policy stopped, also where nothing came of it. */
  readonly problems: string[];
  /** What the page requested besides `allowed`: addresses, and hosts that reached the network. */
  foreign(allowed: string): string[];
  stop(): Promise<void>;
}

/** Chromium itself contacts it on any page with a form, whatever the page does. */
const browsersOwn = "content-autofill.googleapis.com:443";

/**
 * Opens a window whose way to other machines is a proxy that notes the host and rejects: no name is looked up
 * elsewhere.
 */
export async function openRecorded(browser: Browser): Promise<Recorded> {
  const hosts = new Set<string>();
  const proxy = createServer((request, response) => {
    hosts.add(new URL(request.url ?? "", "http://proxy.invalid").origin);
    response.writeHead(502).end();
  });
  // Everything but plain HTTP: TLS and WebSocket.
  proxy.on("connect", (request, socket) => {
    if (request.url !== browsersOwn) hosts.add(request.url ?? "");
    socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  await new Promise<void>((listening) => proxy.listen(0, "127.0.0.1", listening));
  const { context, page, problems } = await openWindow(browser, {
    width: 1280,
    proxy: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
  });
  const addresses = new Set<string>();
  context.on("request", (request) => addresses.add(request.url()));
  page.on("websocket", (socket) => addresses.add(socket.url()));
  await context.exposeFunction("reportBreach", (breach: string) => problems.push(breach));
  await page.addInitScript(
    "document.addEventListener('securitypolicyviolation', (breach) => reportBreach(`${breach.violatedDirective}: ${breach.blockedURI}`))",
  );
  return {
    page,
    problems,
    foreign: (allowed) => [
      ...[...addresses].filter((address) => new URL(address).origin !== allowed && !/^(data|blob):/.test(address)),
      ...hosts,
    ],
    async stop() {
      await context.close();
      proxy.closeAllConnections();
      await new Promise((closed) => proxy.close(closed));
    },
  };
}
