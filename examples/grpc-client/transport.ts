// Transports to the service for the generated clients, which send the API key with every call.
import type { Interceptor, Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";

/** Adds the API key to every call. */
function withApiKey(apiKey: string): Interceptor {
  return (next) => (request) => {
    request.header.set("authorization", `Bearer ${apiKey}`);
    return next(request);
  };
}

/**
 * gRPC over HTTP/2, in cleartext where the address is http, or Connect over HTTP/1.1. A call takes at most 10 seconds.
 */
export function createTransport(
  protocol: "grpc" | "connect",
  { baseUrl, apiKey }: { readonly baseUrl: string; readonly apiKey: string },
): Transport {
  const options = { baseUrl, interceptors: [withApiKey(apiKey)], defaultTimeoutMs: 10_000 };
  return protocol === "grpc"
    ? createGrpcTransport(options)
    : createConnectTransport({ ...options, httpVersion: "1.1" });
}
