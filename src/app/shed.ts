// Responses to requests that are rejected by their heads, before anything else is done for them: prepared once.
import { parseContentType as connectType } from "@connectrpc/connect/protocol-connect";
import { failureEnvelope, failureHeaders } from "../http/response.ts";
import { table } from "../http/route.ts";
import { setBounded } from "../call/bounded-cache.ts";
import type { Head, HeadResponse, Surface } from "../call/exchange.ts";
import type { Arrived, ArrivedAt, Shed } from "../call/dispatch.ts";
import type { Config } from "../config/config.ts";
import type { Failure } from "../call/errors.ts";
import { connectError } from "../rpc/connect-error.ts";
import { spokenBy } from "../rpc/early-rejection.ts";
import type { Protocol } from "../rpc/protocol.ts";
import { contentTypeOf, isConnect, isGrpc } from "../rpc/protocol.ts";
import { encodeWebText, isWebText } from "../rpc/web-text.ts";
import { rejection } from "../rpc/rejection.ts";
import type { HeaderList } from "../http/headers.ts";
import { corsHeaders } from "../http/headers.ts";
import type { RequestWatch } from "../observability/requests.ts";
import { clientAddress, requestIdOf, single } from "../http/inbound.ts";

/** What the public listener has at the path of a request. */
export interface PublicTarget {
  readonly path: string;
  /** Whether the path is under `/v1`. */
  readonly rest: boolean;
  readonly surface: Surface | undefined;
  readonly isServed: boolean;
  readonly isRpc: boolean;
}

/** The form of a rejection: REST's envelope, the same as a JSON-RPC error, or an error of an rpc's protocol. */
export type ShedForm = "rest" | "mcp" | "rpc";

/** The paths of operations that need no credential. However busy the instance is, they are served or throttled. */
const openPaths = new Set(
  table
    .filter(({ credential }) => credential === "none")
    .flatMap(({ template, rpc }) => [template, `/${rpc.parent.typeName}/${rpc.name}`]),
);

/**
 * Creates a shedder, which rejects requests at once. `shed` decides, `logShed` reports, and `headersOf` returns the
 * headers of every response of a form.
 */
export function createShedder(
  { corsOrigins, trustProxy }: Pick<Config, "corsOrigins" | "trustProxy">,
  { shed, logShed }: { readonly shed: Shed; readonly logShed: RequestWatch["logShed"] },
  headersOf: (form: ShedForm) => HeaderList,
) {
  const prepare = createPrepare(headersOf);
  return {
    /**
     * Returns why a request must be rejected at once; undefined if it need not be. The target is needed only if there is
     * something to reject, or if the request waits for its turn.
     */
    failureOf(head: Head, target: () => PublicTarget, onTurn?: Arrived["onTurn"]): Failure | undefined {
      return shed({
        header: (name) => single(head.headers[name]),
        address: () => clientAddress(head, trustProxy),
        target: () => arrivedAt(head, target()),
        onTurn,
      });
    },
    /** Returns the response of the rejection, and reports it. Returns undefined for a page, which browsers show. */
    responseTo(head: Head, failure: Failure, target: PublicTarget): HeadResponse | undefined {
      const form = formOf(target);
      if (form === undefined) return undefined;
      logShed(head, failure);
      const { status, headers: prepared, body } = prepare(head, failure, target, form);
      const headers: Record<string, string> = { ...prepared, "X-Request-Id": requestIdOf(head) };
      for (const [name, value] of corsHeaders(head, corsOrigins)) headers[name] = value;
      return { status, headers, body };
    },
  };
}

function arrivedAt({ method }: Head, target: PublicTarget): ArrivedAt {
  const { path } = target;
  const isOpen = openPaths.has(path) || (path.includes("%") && openPaths.has(decoded(path)));
  // Documents and pages have a bucket of their own.
  const isDebited = !target.isServed || (formOf(target) !== undefined && method !== "OPTIONS");
  return { isMcp: path === "/mcp", bucket: isOpen ? undefined : isDebited ? "caller" : "other" };
}

function formOf({ rest, isRpc, path }: PublicTarget): ShedForm | undefined {
  if (rest) return "rest";
  if (isRpc) return "rpc";
  return path === "/mcp" ? "mcp" : undefined;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The maximum number of prepared responses: a few for each form, and some for each content type of an rpc. */
const maxPrepared = 200;

function createPrepare(headersOf: (form: ShedForm) => HeaderList) {
  const prepared = new Map<string, HeadResponse>();
  return (head: Head, failure: Failure, target: PublicTarget, form: ShedForm): HeadResponse => {
    const protocol = form === "rpc" ? protocolOfError(head, target) : undefined;
    const type = protocol === undefined ? "" : contentTypeOf(head);
    const key = `${form} ${protocol} ${isWebText(head)} ${failure.reason} ${failure.retryAfterSeconds} ${type}`;
    const known = prepared.get(key);
    if (known !== undefined) return known;
    const common = headersOf(form);
    const response =
      protocol === undefined ? prepareJson(failure, form, common) : prepareError(failure, protocol, head, common);
    setBounded(prepared, key, response, maxPrepared);
    return response;
  };
}

function prepareJson(failure: Failure, form: ShedForm, common: HeaderList): HeadResponse {
  const envelope = failureEnvelope(failure);
  const body = form === "mcp" ? `{"jsonrpc":"2.0","id":null,${envelope.slice(1)}` : envelope;
  const headers: HeaderList = [
    ...common,
    ...failureHeaders(failure),
    ["Content-Type", "application/json; charset=utf-8"],
    ["Cache-Control", "no-store"],
    ["Content-Length", String(Buffer.byteLength(body))],
  ];
  return { status: failure.kind.http, headers: Object.fromEntries(headers), body };
}

/** Returns the protocol of an error; undefined for the envelope, which a request gets that is no call of an rpc. */
function protocolOfError(head: Head, { surface }: PublicTarget): Protocol | undefined {
  if (isGrpc(head)) return spokenBy(head);
  // The public rpcs are no streams: a call of one as a stream would be 415, in the envelope.
  const isCall =
    surface === undefined || head.method === "GET"
      ? isConnect(head)
      : head.method === "POST" && connectType(contentTypeOf(head))?.stream === false;
  return isCall ? "connect" : undefined;
}

function prepareError(failure: Failure, protocol: Protocol, head: Head, common: HeaderList): HeadResponse {
  const type = contentTypeOf(head);
  const error = rejection(protocol, type, connectError(failure, protocol));
  const { status, header, trailer, body } = isWebText(head) ? encodeWebText(error) : error;
  // A gRPC response without a message has its status in its only headers ("Trailers-Only").
  const headers = new Map([...common, ...(header ?? []), ...(trailer ?? [])]);
  if (protocol === "grpc") headers.set("content-type", type);
  return {
    status,
    headers: Object.fromEntries(headers),
    body: trailer === undefined ? Buffer.concat(body) : undefined,
  };
}
