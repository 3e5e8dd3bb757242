// The load client, a process of its own: runs one load after the other, on its parent's command.
import type { GrpcRequest, Load, LoadRequest, Loaded, WireRequest } from "./load.ts";
import { uniqueMark } from "./load.ts";
import { grpcConnection } from "./grpc.ts";
import { wireConnection } from "./http1.ts";

/** Sends one request; an empty text for a success, otherwise what came. */
type Send = (request: LoadRequest) => Promise<string>;

/** Streams that share a connection, as a gRPC client lets them. */
const streamsOnConnection = 4;
let unique = Date.now() % 100_000_000_000;

process.on("message", (load: Load) => void run(load).then((loaded) => process.send?.(loaded)));

async function run({ ports, connections, seconds, requests }: Load): Promise<Loaded> {
  const times: number[] = [];
  const endings: (() => void)[] = [];
  let [failed, failure, next] = [0, "", 0];
  const sends =
    requests[0]?.kind === "grpc"
      ? await overGrpc(ports, connections, endings)
      : await overHttp1(ports, connections, endings);
  const begun = performance.now();
  const until = begun + seconds * 1_000;
  // At least one request each, so that a busy machine leaves no load without a figure.
  const loop = async (send: Send): Promise<void> => {
    do {
      const request = requests[next++ % requests.length] as LoadRequest;
      const sentAt = performance.now();
      const problem = await send(request).catch(String);
      times.push(performance.now() - sentAt);
      if (problem === "") continue;
      failed++;
      failure ||= problem;
      if (failed > 1_000) return;
    } while (performance.now() < until);
  };
  await Promise.all(sends.map(loop));
  const elapsed = (performance.now() - begun) / 1_000;
  for (const end of endings) end();
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { requests: times.length, failed, failure, seconds: elapsed, p50Ms: at(0.5), p99Ms: at(0.99) };
}

async function overHttp1(ports: readonly number[], count: number, endings: (() => void)[]): Promise<Send[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, at): Promise<Send> => {
      const connection = await wireConnection(ports[at % ports.length] as number);
      endings.push(() => connection.close());
      return async (request) => {
        const response = await connection.send(made((request as WireRequest).bytes));
        return response.status >= 200 && response.status < 300
          ? ""
          : `${response.status} ${response.body.toString().slice(0, 300)}`;
      };
    }),
  );
}

async function overGrpc(ports: readonly number[], count: number, endings: (() => void)[]): Promise<Send[]> {
  const connections = Array.from({ length: Math.ceil(count / streamsOnConnection) }, (_, at) =>
    grpcConnection(ports[at % ports.length] as number),
  );
  for (const connection of connections) endings.push(() => connection.close());
  return Array.from(
    { length: count },
    (_, at): Send =>
      async (request) => {
        const { status } = await (connections[at % connections.length] as (typeof connections)[number]).call(
          request as GrpcRequest,
        );
        return status === 0 ? "" : `grpc-status ${status}`;
      },
  );
}

/** The request with numbers of its own. */
function made(bytes: string): string {
  if (!bytes.includes(uniqueMark)) return bytes;
  return bytes.replaceAll(uniqueMark, String(unique++).padStart(uniqueMark.length, "0"));
}
