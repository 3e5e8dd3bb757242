// Responses to requests that are rejected before anything else is done for them: prepared once, written at once.
import { parseContentType as connectType } from "@connectrpc/connect/protocol-connect";
import { endWith, failureEnvelope, failureHeaders } from "../http/response.ts";
import { table } from "../http/route.ts";
import { setBounded } from "../call/bounded-cache.ts";
import type { Request, Response, Surface } from "../call/exchange.ts";
import type { Arrived, ArrivedAt, Shed } from "../call/dispatch.ts";
import type { Config } from "../config/config.ts";
import type { Failure } from "../call/errors.ts";
import { connectError } from "../rpc/connect-error.ts";
import { spokenBy } from "../rpc/early-rejection.ts";
import type { Protocol } from "../rpc/protocol.ts";
import { contentTypeOf, isConnect, isGrpc } from "../rpc/protocol.ts";
import { endTrailersOnly } from "../rpc/trailers-only.ts";
import { encodeWebText, isWebText } from "../rpc/web-text.ts";
import { rejection } from "../rpc/rejection.ts";
import type { HeaderList } from "../http/headers.ts";
import { corsHeaders } from "../http/headers.ts";
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

/** Rejects requests at once. */
export interface Shedder {
  /**
   * Returns why a request must be rejected at once; undefined if it need not be. The target is needed only if there is
   * something to reject, or if the request waits for its turn.
   */
  failureOf(
    request: Request,
    targetOf: (request: Request) => PublicTarget,
    onTurn?: Arrived["onTurn"],
  ): Failure | undefined;
  /** Writes the rejection. Returns false for a page, whose rejections browsers show. */
  write(request: Request, response: Response, failure: Failure, target: PublicTarget): boolean;
}

/** Dependencies of the shedder. */
export interface ShedderDependencies {
  readonly shed: Shed;
  /** Reports a request that was rejected at once. */
  readonly logShed: (request: Request, failure: Failure) => void;
}

/** The paths of operations that need no credential. However busy the instance is, they are served or throttled. */
const openPaths = new Set(
  table
    .filter(({ credential }) => credential === "none")
    .flatMap(({ template, rpc }) => [template, `/${rpc.parent.typeName}/${rpc.name}`]),
);

/** Creates the shedder. `headersOf` returns the headers of every response of a form. */
export function createShedder(
  { corsOrigins, trustProxy }: Pick<Config, "corsOrigins" | "trustProxy">,
  { shed, logShed }: ShedderDependencies,
  headersOf: (form: ShedForm) => HeaderList,
): Shedder {
  const prepare = createPrepare(headersOf);
  return {
    failureOf(request, targetOf, onTurn) {
      const { headers } = request;
      return shed({
        header: (name) => single(headers[name]),
        address: () => clientAddress(request, trustProxy),
        target: () => arrivedAt(request, targetOf(request)),
        onTurn,
      });
    },
    write(request, response, failure, target) {
      const form = formOf(target);
      if (form === undefined) return false;
      const { status, headers: prepared, body } = prepare(request, failure, target, form);
      const headers: HeaderList = [
        ...prepared,
        ["X-Request-Id", requestIdOf(request)],
        ...corsHeaders(request, corsOrigins),
      ];
      // A gRPC status must end the stream with its headers: after `writeHead`, Node would send an empty DATA frame.
      if (body === undefined) endTrailersOnly(response, headers);
      else {
        response.writeHead(status, headers.flat());
        endWith(response, body);
      }
      logShed(request, failure);
      return true;
    },
  };
}

function arrivedAt({ method }: Request, target: PublicTarget): ArrivedAt {
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

/** A response that depends on nothing but the failure and the form. */
interface Prepared {
  readonly status: number;
  readonly headers: HeaderList;
  /** Undefined for a gRPC status, which is in the headers. */
  readonly body: string | Buffer | undefined;
}

/** The maximum number of prepared responses: a few for each form, and some for each content type of an rpc. */
const maxPrepared = 200;

function createPrepare(headersOf: (form: ShedForm) => HeaderList) {
  const prepared = new Map<string, Prepared>();
  return (request: Request, failure: Failure, target: PublicTarget, form: ShedForm): Prepared => {
    const protocol = form === "rpc" ? protocolOfError(request, target) : undefined;
    const type = protocol === undefined ? "" : contentTypeOf(request);
    const key = `${form} ${protocol} ${isWebText(request)} ${failure.reason} ${failure.retryAfterSeconds} ${type}`;
    const known = prepared.get(key);
    if (known !== undefined) return known;
    const common = headersOf(form);
    const response =
      protocol === undefined ? prepareJson(failure, form, common) : prepareError(failure, protocol, request, common);
    setBounded(prepared, key, response, maxPrepared);
    return response;
  };
}

function prepareJson(failure: Failure, form: ShedForm, common: HeaderList): Prepared {
  const envelope = failureEnvelope(failure);
  const body = form === "mcp" ? `{"jsonrpc":"2.0","id":null,${envelope.slice(1)}` : envelope;
  const headers: HeaderList = [
    ...common,
    ...failureHeaders(failure),
    ["Content-Type", "application/json; charset=utf-8"],
    ["Cache-Control", "no-store"],
    ["Content-Length", String(Buffer.byteLength(body))],
  ];
  return { status: failure.kind.http, headers, body };
}

/** Returns the protocol of an error; undefined for the envelope, which a request gets that is no call of an rpc. */
function protocolOfError(request: Request, { surface }: PublicTarget): Protocol | undefined {
  if (isGrpc(request)) return spokenBy(request);
  // The public rpcs are no streams: a call of one as a stream would be 415, in the envelope.
  const isCall =
    surface === undefined || request.method === "GET"
      ? isConnect(request)
      : request.method === "POST" && connectType(contentTypeOf(request))?.stream === false;
  return isCall ? "connect" : undefined;
}

function prepareError(failure: Failure, protocol: Protocol, request: Request, common: HeaderList): Prepared {
  const type = contentTypeOf(request);
  const error = rejection(protocol, type, connectError(failure, protocol));
  const { status, header, trailer, body } = isWebText(request) ? encodeWebText(error) : error;
  // A gRPC response without a message has its status in its only headers ("Trailers-Only").
  const headers = new Map([...common, ...(header ?? []), ...(trailer ?? [])]);
  if (protocol === "grpc") headers.set("content-type", type);
  return { status, headers: [...headers], body: trailer === undefined ? Buffer.concat(body) : undefined };
}
