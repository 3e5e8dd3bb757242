// A client of the MCP surface, as the journey drives it: connects, lists, calls, and sends a user to sign in.

/** A user in a browser: visits the page that the client opens, and returns the callback address where it ends. */
export type UserAgent = (page: URL) => Promise<URL>;

/** The result of a tool call. */
export interface ToolResult {
  readonly isError: boolean;
  readonly structured: Readonly<Record<string, unknown>>;
}

/** A client with its own, initially empty token store. A method throws what the client reported. */
export interface McpClient {
  /** Opens a new connection with the same token store, and returns the protocol revision. */
  connect(userAgent: UserAgent): Promise<string>;

  listTools(userAgent: UserAgent): Promise<readonly string[]>;
  callTool(name: string, given: Readonly<Record<string, unknown>>, userAgent: UserAgent): Promise<ToolResult>;
  /** Invalidates the access token but keeps the refresh token. */
  expireToken(): Promise<void>;
  /** A digest of the stored access token; empty if there is none. */
  tokenDigest(): Promise<string>;
  end(): Promise<void>;
}

/** A client that can be tried. */
export interface ClientKind {
  /** Its name for `--only`. */
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** The newest protocol revision that it is configured to negotiate. */
  readonly revision: "2026-07-28" | "2025-11-25";
  /** Whether the short form includes it. */
  readonly isShort: boolean;
  /** Why this machine cannot run it; undefined if it can. */
  missing(): string | undefined;
  /** Installs its dependencies into the cache folder. Throws if that fails. */
  install(cacheDir: string): void;
  /** Starts it in its own empty folder. */
  start(url: string, cacheDir: string, folder: string): Promise<McpClient>;
}
