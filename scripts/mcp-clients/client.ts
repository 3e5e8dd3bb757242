// A client of the MCP surface, as the journey drives it: connects, lists, calls, and leads a user to sign in.

/** A user at a browser: visits the page that the client opens, and returns the callback address it ends at. */
export type UserAgent = (page: URL) => Promise<URL>;

/** The result of a tool call. */
export interface ToolResult {
  readonly isError: boolean;
  readonly structured: Readonly<Record<string, unknown>>;
}

/** A client with its own token store, which is empty at first. A method fails with what the client reported. */
export interface McpClient {
  /** Opens a new connection, and returns the revision of the protocol. The token store is kept. */
  connect(userAgent: UserAgent): Promise<string>;
  /** The names of the tools. */
  listTools(userAgent: UserAgent): Promise<readonly string[]>;
  callTool(name: string, given: Readonly<Record<string, unknown>>, userAgent: UserAgent): Promise<ToolResult>;
  /** Makes the access token unusable, and keeps the refresh token. */
  expireToken(): Promise<void>;
  /** A digest of the stored access token; empty where there is none. */
  tokenDigest(): Promise<string>;
  end(): Promise<void>;
}

/** A client that can be tried. */
export interface ClientKind {
  /** What `--only` selects. */
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** The newest protocol revision that it is made to negotiate. */
  readonly revision: "2026-07-28" | "2025-11-25";
  /** Whether the short form tries it. */
  readonly isShort: boolean;
  /** Why this machine cannot run it; undefined where it can. */
  missing(): string | undefined;
  /** Installs what it needs into the cache folder. Throws where that fails. */
  install(cacheDir: string): void;
  /** Starts it in an empty folder of its own. */
  start(url: string, cacheDir: string, folder: string): Promise<McpClient>;
}
