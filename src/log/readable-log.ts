// Formatter of log lines for a terminal: one readable line for each request, and none for a page's files.
import { styleText } from "node:util";

/** A parsed JSON line of the log. */
type Line = Readonly<Record<string, unknown>>;

/**
 * The fields of a request's line that are shown. Fields for machines are left out: ids, addresses and times of waits.
 */
interface RequestLine {
  readonly time: string;
  readonly wire: string;
  readonly method: string;
  readonly route: string;
  readonly rpc?: string;
  readonly tools?: string;
  readonly status: number;
  readonly code?: string;
  readonly cause?: string;
  readonly waiting_for?: string;
  readonly ms: number;
}

/** The caller has already decided whether to use colors. */
const always = { validateStream: false };

const debugLevel = 20;
const warnLevel = 40;
const errorLevel = 50;

/**
 * Returns the text for a line of JSON. Returns undefined for a served file of a page, unless its level is debug.
 * `colored` adds colors.
 */
export function readableLine(json: string, colored: boolean): string | undefined {
  const line = JSON.parse(json) as Line;
  if (line["msg"] !== "request") return eventLine(line, colored);
  const request = line as unknown as RequestLine;
  return isFile(request) && line["level"] !== debugLevel ? undefined : requestLine(request, colored);
}

/** Whether a line is about a served file of a page. Files have an extension; the paths of documents have none. */
function isFile({ wire, route, status }: RequestLine): boolean {
  return wire === "page" && status < 400 && /\.(?:css|js|svg|ico|woff2|png)$/.test(route);
}

function requestLine(line: RequestLine, colored: boolean): string {
  const { time, wire, method, route, rpc, tools, status, code, cause, waiting_for: waitingFor, ms } = line;
  const isRpc = wire !== "rest" && rpc !== undefined && wire !== "mcp";
  const failed = status >= 500 || (status === 200 && code !== undefined && code !== "ok");
  const style = failed ? "red" : status >= 400 ? "yellow" : "green";
  const what = isRpc ? `${wire.padEnd(8)} ${rpc}` : `${method.padEnd(8)} ${route === "-" ? "(unknown path)" : route}`;
  return [
    clock(time, colored),
    colored ? styleText(style, String(status), always) : String(status),
    `${what}${tools === undefined ? "" : ` ${tools}`}`.padEnd(48),
    `${String(Math.round(ms)).padStart(5)} ms`,
    ...(code === undefined || code === "ok" ? [] : [code]),
    ...(cause === undefined ? [] : [cause]),
    ...(waitingFor === undefined ? [] : [`waiting for ${waitingFor}`]),
  ].join("  ");
}

/** Formats a line that is not about a request: its message, then its other fields. */
function eventLine({ level, time, msg, ...facts }: Line, colored: boolean): string {
  const isError = Number(level) >= errorLevel;
  const word = isError ? "error" : Number(level) >= warnLevel ? "warning" : undefined;
  const shown = Object.entries(facts).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return [
    clock(String(time), colored),
    ...(word === undefined ? [] : [colored ? styleText(isError ? "red" : "yellow", word, always) : word]),
    String(msg),
    ...shown,
  ].join("  ");
}

/** Formats the time of day in the local time zone. */
function clock(time: string, colored: boolean): string {
  const text = new Date(time).toLocaleTimeString("en-GB");
  return colored ? styleText("dim", text, always) : text;
}
