// The load client: a separate process that runs loads for its parent, one at a time.
import type { GrpcRequest, Load, LoadRequest, Loaded, WireRequest } from "./load.ts";
import { uniqueMark } from "./load.ts";
import { openConnection } from "../../drills/load/connection.ts";
import type { GrpcConnection } from "../../drills/load/grpc.ts";
import { openGrpc } from "../../drills/load/grpc.ts";
import { quantile } from "../../drills/load/load.ts";

/** Sends one request. Resolves with an empty string for a success, otherwise with the failure. */
type Send = (request: LoadRequest) => Promise<string>;

/** The number of streams per connection, as in a gRPC client. */
const streamsOnConnection = 4;
let unique = Date.now() % 100_000_000_000;

process.on("message", (load: Load) => void run(load).then((loaded) => process.send?.(loaded)));

async function run({ port, connections, seconds, requests }: Load): Promise<Loaded> {
  const times: number[] = [];
  const cleanups: (() => void)[] = [];
  let [failed, failure, next] = [0, "", 0];
  const open = requests[0]?.kind === "grpc" ? overGrpc : overHttp1;
  const sends = await open(`http://127.0.0.1:${port}`, connections, cleanups);
  const begun = performance.now();
  const until = begun + seconds * 1_000;
  // Sends at least one request each, so that every load has a figure even on a busy machine.
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
  for (const end of cleanups) end();
  const [p50Ms, p99Ms] = [quantile(times, 0.5), quantile(times, 0.99)];
  return { requests: times.length, failed, failure, seconds: elapsed, p50Ms, p99Ms };
}

async function overHttp1(base: string, count: number, cleanups: (() => void)[]): Promise<Send[]> {
  return Promise.all(
    Array.from({ length: count }, async (): Promise<Send> => {
      const connection = await openConnection(base);
      cleanups.push(() => connection.close());
      return async (request) => {
        const response = await connection.send(withUniqueNumbers((request as WireRequest).bytes));
        return response.status >= 200 && response.status < 300
          ? ""
          : `${response.status} ${response.body.slice(0, 300)}`;
      };
    }),
  );
}

async function overGrpc(base: string, count: number, cleanups: (() => void)[]): Promise<Send[]> {
  const connections = await Promise.all(
    Array.from({ length: Math.ceil(count / streamsOnConnection) }, () => openGrpc(base)),
  );
  for (const connection of connections) cleanups.push(() => connection.close());
  return Array.from(
    { length: count },
    (_, at): Send =>
      async (request) => {
        const { path, message, authorization } = request as GrpcRequest;
        const connection = connections[at % connections.length] as GrpcConnection;
        const { status } = await connection.call(path, Buffer.from(message, "base64"), { authorization });
        return status === 0 ? "" : `grpc-status ${status}`;
      },
  );
}

function withUniqueNumbers(bytes: string): string {
  if (!bytes.includes(uniqueMark)) return bytes;
  return bytes.replaceAll(uniqueMark, String(unique++).padStart(uniqueMark.length, "0"));
}
