// The requests to the load client and its responses: messages between the bench and its client process.

/** Is in a request for a number that no other request has; as many digits take its place. */
export const uniqueMark = "@@@@@@@@@@@@";

/** A request over HTTP/1.1, as it is on the wire. */
export interface WireRequest {
  readonly kind: "http1";
  readonly bytes: string;
}

/** A gRPC call, with the bytes of its message in base64. */
export interface GrpcRequest {
  readonly kind: "grpc";
  readonly path: string;
  readonly authorization: string;
  readonly message: string;
}

export type LoadRequest = WireRequest | GrpcRequest;

/** A closed loop: each connection sends the next of the requests as soon as the last is served, and at least one. */
export interface Load {
  /** Connections are dealt out among them. */
  readonly ports: readonly number[];
  readonly connections: number;
  readonly seconds: number;
  /** All of one kind; taken in turn. */
  readonly requests: readonly LoadRequest[];
}

/** What came of a load. */
export interface Loaded {
  readonly requests: number;
  /** Responses that were no success. */
  readonly failed: number;
  /** The first of them, for people. */
  readonly failure: string;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}
