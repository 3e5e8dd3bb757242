// Loads the OpenID Connect library, when it is needed and without its notice about the runtime.
type Library = typeof import("oidc-provider");

const notice = "oidc-provider WARNING: Unsupported runtime.";

/** The library. It is large, and a service with a provider of its own never needs it: so it is no static import. */
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

/** The one function of Node.js 22 that the library calls, for Node.js 20: the reason for the notice. */
function parseUrlsAsLaterRuntimesDo(): void {
  const url = URL as typeof URL & { parse?: (input: string, base?: string) => URL | null };
  url.parse ??= (input, base) => (URL.canParse(input, base) ? new URL(input, base) : null);
}
