// Describes why a connection or a request failed, in words for the user and without secrets.
import { innermostCode } from "../../db/innermost-code.ts";

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "the host name cannot be resolved",
  EAI_AGAIN: "the name server does not respond",
  ECONNRESET: "the connection was closed without a response",
  EPIPE: "the connection was closed without a response",
  UND_ERR_SOCKET: "the connection was closed without a response",
  EHOSTUNREACH: "there is no route to the host",
  ENETUNREACH: "there is no route to the network",
  ETIMEDOUT: "no response arrived in time",
  UND_ERR_CONNECT_TIMEOUT: "no response arrived in time",
  UND_ERR_HEADERS_TIMEOUT: "no response arrived in time",
  ERR_SSL_WRONG_VERSION_NUMBER: "it does not use TLS",
  EPROTO: "it does not use TLS, or not a supported version",
};

/**
 * Returns the reason as a part of a sentence: the system's error code in words, or else the first line of the message.
 */
export function reasonOf(error: unknown): string {
  const code = innermostCode(error);
  if (code !== undefined && words[code] !== undefined) return `${words[code]} (${code})`;
  if (code !== undefined && /CERT|SELF_SIGNED|ALTNAME|UNABLE_TO/.test(code))
    return `its certificate is not trusted (${code})`;
  if (error instanceof Error && /^(TimeoutError|AbortError)$/.test(error.name)) return words["ETIMEDOUT"] ?? "";
  return beginning(error instanceof Error ? error.message : String(error));
}

/** Returns the first line of a text without its full stop, for use within a sentence. */
function beginning(text: string): string {
  return (text.split("\n", 1)[0] ?? "").slice(0, 300).replace(/(?<!\.)\.+$/, "");
}
