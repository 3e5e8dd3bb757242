// Loads the OpenID Connect library on demand and without its notice about the runtime.
type Library = typeof import("oidc-provider");

const notice = "oidc-provider WARNING: Unsupported runtime.";

/** Imports the library dynamically: it is large, and a service with a configured provider never needs it. */
export async function loadLibrary(): Promise<Library> {
  parseUrlsAsLaterRuntimesDo();
  const warn = console.warn;
  const allButTheNotice = (...words: unknown[]): void => {
    if (!String(words[0]).includes(notice)) warn.apply(console, words);
  };
  console.warn = allButTheNotice;
  try {
    return await import("oidc-provider");
  } finally {
    if (console.warn === allButTheNotice) console.warn = warn;
  }
}

/**
 * Polyfills `URL.parse` for Node.js 20. It is the only function of Node.js 22 that the library calls, and the reason
 * for the notice.
 */
function parseUrlsAsLaterRuntimesDo(): void {
  const url = URL as typeof URL & { parse?: (input: string, base?: string) => URL | null };
  url.parse ??= (input, base) => (URL.canParse(input, base) ? new URL(input, base) : null);
}
