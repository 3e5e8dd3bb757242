// The gateway: maps HTTP requests under /v1 to rpcs, and their responses back, in the order of the contract (§2.2).
import type { Message } from "@bufbuild/protobuf";
import { Reason } from "../src/gen/records/v1/errors_pb.ts";
import type { Failure, Violation } from "../src/call/errors.ts";
import { fail, failureOf } from "../src/call/errors.ts";
import { jsonInPieces } from "../src/large/json.ts";
import { findDeflated } from "../src/large/deflated.ts";
import { hugeBytes, largeBytes, requireSlotForHuge } from "../src/large/slots.ts";
import type { ReserveBytes } from "../src/large/sending.ts";
import { reservationFor } from "../src/large/sending.ts";
import { chooseCoding } from "../src/call/negotiation.ts";
import type { AdmittedCall, Dispatch, Inbound, RpcResponse } from "../src/call/dispatch.ts";
import { observe } from "../src/call/dispatch.ts";
import { receiveBody } from "../src/http/body.ts";
import { isBodyHeld } from "../src/http/continue.ts";
import { renderGzip, renderInflated } from "../src/http/gzip.ts";
import type { Request, Response } from "../src/http/node-http.ts";
import { writeFailureAndClose } from "../src/http/linger.ts";
import { splitTarget } from "../src/http/query.ts";
import type { RequestReader } from "./request.ts";
import { createRequestReader } from "./request.ts";
import { setJsonHead, writeBody, writeFailure } from "../src/http/response.ts";
import type { Route } from "../src/http/route.ts";
import { table } from "../src/http/route.ts";
import { createRouter } from "./router.ts";

/** The dependencies of the gateway. */
export interface GatewayOptions {
  readonly dispatch: Dispatch;
  /** The value of `<provider>` in `<provider>_doc_url` (contract §2.10). */
  readonly documentProvider: string;
  /** Called for every failed request, before its response. */
  readonly onError: (failure: Failure, inbound: Inbound) => void;
}

/**
 * Serves a request for `/v1` or a path under it, through node's HTTP/1.1 or HTTP/2 API. The caller has already set the
 * common headers on the response. Resolves when node has received the response. Never rejects.
 */
export type RequestHandler = (request: Request, response: Response, inbound: Inbound) => Promise<void>;

interface Operation extends Route {
  readonly read: RequestReader;
  /** `render` returns the body of a response as JSON text, and `bodyOf` as an object. */
  readonly render: (message: Message) => string;
  readonly bodyOf: (message: Message) => object;
  readonly reserveBytes: ReserveBytes;
  /** The service and the method in gRPC's form. */
  readonly rpcName: string;
}

/** Creates the gateway. Builds the router and the readers once, for all requests. */
export function createGateway({ dispatch, documentProvider, onError }: GatewayOptions): RequestHandler {
  const router = createRouter<Operation>(
    table.map((route) => ({
      ...route,
      read: createRequestReader(route),
      bodyOf: (message) => route.write(message, documentProvider),
      render: (message) => JSON.stringify(route.write(message, documentProvider)),
      reserveBytes: reservationFor(route.rpc),
      rpcName: `${route.rpc.parent.typeName}/${route.rpc.name}`,
    })),
  );

  return async (request, response, inbound) => {
    let stillSending = false;
    try {
      const { path, query } = splitTarget(request.url ?? "");
      const match = router(path);
      const operation = match?.resource.operations.get(request.method ?? "");
      if (match !== undefined)
        observe(
          inbound,
          operation === undefined
            ? { route: match.resource.template }
            : { route: operation.template, rpc: operation.rpcName },
        );
      if (match === undefined || operation === undefined) {
        await dispatch.throttle(inbound); // 429
        writeAllow(request, response, match?.resource.allow); // 404, 405
        return;
      }
      // A closed connection cancels a read. A write is completed.
      const admitted = await dispatch.admit(
        operation.rpc,
        operation.method === "GET" ? inbound : { ...inbound, limits: undefined },
      ); // 429, 503, 401, 403, 503
      // The client of a cancelled read has left.
      if (operation.method === "GET" && request.aborted) return;
      const head =
        operation.body && isBodyHeld(request) ? violationsOfHead(operation, match.captured, query, admitted) : [];
      const body = operation.body && (await receiveBody(request, operation.body.required, head.length > 0, inbound));
      if (body?.kind === "gone") return;
      if (body?.kind === "held") return await admitted.reject(head);
      stillSending = body?.kind === "too large";
      const { message, violations } = operation.read(match.captured, query, body);
      const rendered = await renderResponse(
        operation,
        await admitted.invoke(message, violations), // 422, 409, 404, 409
        request,
        inbound,
      );
      operation.reserveBytes(response, inbound.tally, rendered.length); // 503
      await writeResponse(request, response, rendered);
    } catch (error) {
      const failure = failureOf(error);
      onError(failure, inbound);
      if (stillSending || isBodyHeld(request)) writeFailureAndClose(request, response, failure);
      else writeFailure(response, failure);
    }
  };
}

/** Returns what is wrong with the path, the query and the headers. */
function violationsOfHead(
  { read, path, query: parameters }: Operation,
  captured: readonly string[],
  query: string,
  admitted: AdmittedCall,
): readonly Violation[] {
  const { message, violations } = read(captured, query, undefined);
  const reported = new Set(violations.map(({ field }) => field));
  const fields = [...path, ...parameters].map(({ name }) => name).filter((name) => !reported.has(name));
  return [...violations, ...admitted.headViolations(message, fields)];
}

/** A response that is ready to be sent. It does not retain its message while the client reads. */
interface Rendered {
  readonly status: number;
  readonly location: string | undefined;
  readonly replayed: boolean;
  /** Whether the body is available in several codings, and whether this one is gzip. */
  readonly isCoded: boolean;
  readonly isGzip: boolean;
  readonly body: string | readonly Uint8Array[];
  readonly length: number;
}

async function renderResponse(
  { status, location, render, bodyOf }: Operation,
  { message, replayed, body: stored }: RpcResponse,
  request: Request,
  { tally }: Inbound,
): Promise<Rendered> {
  const deflated = findDeflated(message);
  const isGzip =
    deflated !== undefined && chooseCoding(request.headers["accept-encoding"]?.toString(), ["gzip"]) === "gzip";
  const isLarge = tally !== undefined && tally.dbBytes >= largeBytes;
  let pieces: readonly Uint8Array[] | undefined;
  if (isGzip) pieces = renderGzip(message, render);
  else if (deflated !== undefined) {
    if (deflated.text.size >= hugeBytes) requireSlotForHuge(tally);
    pieces = await renderInflated(message, render);
  } else if (isLarge && stored === undefined) pieces = await jsonInPieces(bodyOf(message));
  const body = pieces ?? stored ?? render(message);
  const length =
    typeof body === "string" ? Buffer.byteLength(body) : body.reduce((sum, piece) => sum + piece.length, 0);
  return { status, location: location?.(message), replayed, isCoded: deflated !== undefined, isGzip, body, length };
}

/**
 * Sends a rendered response. Sets no header before the body is rendered, so that a failure to render is sent without
 * them.
 */
async function writeResponse(
  request: Request,
  response: Response,
  { status, location, replayed, isCoded, isGzip, body, length }: Rendered,
): Promise<void> {
  if (location !== undefined) response.setHeader("Location", location);
  if (replayed) response.setHeader("Idempotent-Replayed", "true");
  if (isCoded) response.setHeader("Vary", [response.getHeader("Vary"), "Accept-Encoding"].filter(Boolean).join(", "));
  if (isGzip) response.setHeader("Content-Encoding", "gzip");
  setJsonHead(response, status, length);
  await writeBody(request, response, body);
}

/**
 * Responds to OPTIONS. Fails with UNKNOWN_PATH if there is no resource, and with METHOD_NOT_ALLOWED for any other
 * method.
 */
function writeAllow(request: Request, response: Response, allow: string | undefined): void {
  if (allow === undefined) fail(Reason.UNKNOWN_PATH);
  if (request.method !== "OPTIONS") fail(Reason.METHOD_NOT_ALLOWED, { allow });
  response.statusCode = 204;
  response.setHeader("Allow", allow);
  response.setHeader("Cache-Control", "no-store");
  response.end();
}
