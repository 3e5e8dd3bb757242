// The messages between the bench and its load client.

/** A placeholder in requests for a unique number with as many digits. */
export const uniqueMark = "@@@@@@@@@@@@";

/** The raw bytes of an HTTP/1.1 request. */
export interface WireRequest {
  readonly kind: "http1";
  readonly bytes: string;
}

/** A gRPC call with its message in base64. */
export interface GrpcRequest {
  readonly kind: "grpc";
  readonly path: string;
  readonly authorization: string;
  readonly message: string;
}

export type LoadRequest = WireRequest | GrpcRequest;

/** A closed loop: each connection sends its next request as soon as the last is served, and at least one. */
export interface Load {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** Sent in turn; all of one kind. */
  readonly requests: readonly LoadRequest[];
}

export interface Loaded {
  readonly requests: number;
  readonly failed: number;
  /** The first failure, for people. */
  readonly failure: string;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}
