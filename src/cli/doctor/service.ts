// Checks a running service: its probes and gRPC on the internal listener, and its public address through any proxies.
import { once } from "node:events";
import { connect } from "node:http2";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { createClient } from "@connectrpc/connect";
import { Health, HealthCheckResponse_ServingStatus as Serving } from "../../gen/grpc/health/v1/health_pb.ts";
import type { Finding, Verdict } from "./check.ts";
import { check, fault, ok, unchecked, warning } from "./check.ts";
import { reasonOf } from "./reason.ts";
import type { TextResponse } from "./request.ts";
import { isObject, request } from "./request.ts";
import type { DoctorContext } from "./doctor-context.ts";

const healthPath = "/v1/health";
const requestId = "records-doctor";
/** The time limit of each of two steps, which together must fit into that of a check. */
const grpcWaitMs = 2_500;

/** Whether a service responds at the internal and at the public address. False if the address is undefined. */
export interface Running {
  readonly inside: boolean;
  readonly outside: boolean;
}

/** Returns whether anything other than a proxy without an instance responds at either address. */
export async function findRunning({ internalUrl, baseUrl }: DoctorContext): Promise<Running> {
  const isServed = (url: string | undefined): Promise<boolean> =>
    url === undefined
      ? Promise.resolve(false)
      : request(url).then(
          (response) => !isProxyAlone(response),
          () => false,
        );
  const [inside, outside] = await Promise.all([
    isServed(internalUrl && `${internalUrl}/livez`),
    isServed(baseUrl && baseUrl + healthPath),
  ]);
  return { inside, outside };
}

export async function checkService(context: DoctorContext, { inside, outside }: Running): Promise<Finding[]> {
  const { internalUrl, baseUrl, noService } = context;
  if (!inside && !outside) {
    const where = [internalUrl, baseUrl].filter((url) => url !== undefined).join(" nor at ");
    const why =
      where === ""
        ? (noService ?? "The service does not run.")
        : `The service does not run: no instance responds at ${where}.`;
    return unchecked(
      "service.running",
      why,
      "Start it (npm start) to check its probes, its public address and the sign-in of assistants too.",
    );
  }
  const internal =
    inside && internalUrl !== undefined
      ? insideChecks(context, internalUrl)
      : [
          check("service.internal", () =>
            warning(
              noService ?? `The internal listener does not respond at ${String(internalUrl)}, but the public one does.`,
              "Run the doctor where it can reach the internal listener, or set --url.",
            ),
          ),
        ];
  return (await Promise.all([...internal, outsideChecks(context)])).flat();
}

function insideChecks({ serviceToken, clocks }: DoctorContext, url: string): Promise<Finding>[] {
  return [
    check("service.live", async () => {
      const sent = clocks.now();
      const { status, headers } = await request(`${url}/livez`);
      clocks.read("clock.instance", `The clock of the instance at ${url}`, Date.parse(headers.get("date") ?? ""), sent);
      return status === 200
        ? ok(`${url} is alive.`)
        : fault(
            `${url}/livez returns ${status}.`,
            "Make sure that this is the internal listener (INTERNAL_PORT), and not another program.",
          );
    }),
    check("service.ready", async () => ready(await request(`${url}/readyz`))),
    check(
      "service.grpc",
      () => grpc(url),
      (error) =>
        fault(
          `gRPC cannot reach ${url}: ${reasonOf(error)}.`,
          "Allow unencrypted HTTP/2 (h2c, with prior knowledge) to the internal listener.",
        ),
    ),
    check("service.token", async () => {
      const response = await request(`${url}/records.admin.v1.InterfaceService/GetState`, {
        method: "POST",
        body: "{}",
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${serviceToken ?? ""}` },
      });
      return token(response);
    }),
  ];
}

/** Whether a proxy responds that has no instance: a 503 of the service itself has its JSON envelope. */
function isProxyAlone({ status, text }: TextResponse): boolean {
  return status >= 502 && status <= 504 && !isObject(parsed(text)["error"]);
}

function ready({ status, text }: TextResponse): Verdict {
  const parts = parsed(text);
  const away = ["mongodb", "redis"].filter((part) => parts[part] === false);
  // The instance may run with other settings than the doctor, such as the password before a rotation.
  const reason = typeof parts["reason"] === "string" ? ` It says: ${parts["reason"]}.` : "";
  if (status === 503)
    return fault(
      `It is not ready${away.length === 0 ? "" : `: it cannot reach ${away.join(", ")}`}.${reason}`,
      "See the checks in that group. If they find nothing, the instance has older settings: restart it. A service that starts or stops is not ready either.",
    );
  if (status !== 200)
    return fault(
      `/readyz returns ${status}.`,
      "Make sure that this is the internal listener (INTERNAL_PORT), and not another program.",
    );
  if (away.length > 0)
    return warning(
      `It is ready, but cannot reach ${away.join(", ")}.`,
      "See the checks in that group. If they find nothing, the instance has older settings, such as a password: restart it.",
    );
  return ok("It is ready, and reaches MongoDB and Redis.");
}

function token({ status, text }: TextResponse): Verdict {
  if (status === 401)
    return fault(
      "The service rejects the service token.",
      "Run the doctor with the SERVICE_TOKENS of the service, or restart the service with these.",
    );
  if (status !== 200)
    return fault(
      `A call with the service token returns ${status}.`,
      "See the log of the service, and the group on MongoDB.",
    );
  const state = parsed(text)["state"];
  const off = (
    isObject(state)
      ? [
          ["publicInterface", "the public interface"],
          ["writes", "writes"],
        ]
      : []
  ).filter(([name = ""]) => {
    const one = isObject(state) ? state[name] : undefined;
    // Connect's JSON omits fields that are false.
    return isObject(one) && one["enabled"] !== true;
  });
  if (off.length > 0)
    return warning(
      `The service accepts the service token. These are switched off: ${off.map(([, what]) => what).join(" and ")}.`,
      "If this is not intended, run records interface on, or records interface writes on.",
    );
  return ok("The service accepts the service token. The public interface and writes are on.");
}

/**
 * Rejects if the server does not support HTTP/2. The gRPC library's session would then end the process with an
 * unhandled error.
 */
async function speaksHttp2(url: string): Promise<void> {
  const session = connect(url).on("error", () => undefined);
  await once(session, "remoteSettings", { signal: AbortSignal.timeout(grpcWaitMs) }).finally(() => session.destroy());
}

async function grpc(url: string): Promise<Verdict> {
  await speaksHttp2(url);
  const sessionManager = new Http2SessionManager(url);
  try {
    const { status } = await createClient(Health, createGrpcTransport({ baseUrl: url, sessionManager })).check(
      {},
      { timeoutMs: grpcWaitMs },
    );
    return status === Serving.SERVING
      ? ok("gRPC works over HTTP/2, and its health is SERVING.")
      : fault(
          `Its gRPC health is ${status === Serving.NOT_SERVING ? "NOT_SERVING" : "unknown"}.`,
          "See the line on readiness.",
        );
  } finally {
    sessionManager.abort();
  }
}

/** Runs several checks on one request through the public address. */
async function outsideChecks({ baseUrl, config, clocks }: DoctorContext): Promise<Finding[]> {
  if (baseUrl === undefined)
    return unchecked(
      "service.public",
      "Its public port changes at each start, and the doctor does not know the current one.",
      "Set PORT or BASE_URL.",
    );
  const url = baseUrl + healthPath;
  let response: TextResponse | undefined;
  const health = await check(
    "service.public",
    async () => {
      const sent = clocks.now();
      response = await request(url, { headers: { "X-Request-Id": requestId } });
      clocks.read(
        "clock.public",
        `The clock of the instance behind ${baseUrl}`,
        Date.parse(response.headers.get("date") ?? ""),
        sent,
      );
      return publicHealth(response, url);
    },
    ({ message }: Error) =>
      fault(
        `The public address does not respond at ${url}: ${message}.`,
        "Correct BASE_URL, its DNS entry or its certificate, or configure the proxy to pass all requests on to PORT.",
      ),
  );
  if (response === undefined || health.status === "fault") return [health];
  const { headers } = response;
  return [
    health,
    { check: "service.rate_limit_headers", ...rateLimit(headers, config.rateLimit) },
    { check: "service.request_id", ...requestIds(headers) },
  ];
}

function publicHealth({ status, headers, text }: TextResponse, url: string): Verdict {
  if (status === 429)
    return warning(
      `${url} returns 429: this address has exceeded its rate limit.`,
      "Try again in a few seconds. If this persists, set TRUST_PROXY: all clients may share the proxy's address.",
    );
  const data = parsed(text)["data"];
  if (status !== 200 || !isObject(data))
    return fault(
      `${url} returns ${status} with ${headers.get("content-type") ?? "no content type"} instead of the health: another program responds there.`,
      "Correct BASE_URL, or configure the proxy to pass all requests on to PORT unchanged.",
    );
  const facts = `${url}: version ${String(data["version"])}, health ${String(data["status"])}`;
  if (data["status"] === "ok") return ok(`${facts}.`);
  return warning(
    `${facts}.`,
    data["status"] === "disabled"
      ? "If this is not intended, run records interface on."
      : "See the groups on MongoDB and Redis.",
  );
}

function rateLimit(headers: Headers, limit: number): Verdict {
  const received = ["ratelimit-limit", "ratelimit-policy"].map((name) => headers.get(name));
  if (received.includes(null))
    return fault(
      "RateLimit-Limit and RateLimit-Policy do not reach clients.",
      "Configure the proxy to pass on the response headers.",
    );
  if (received[0] === String(limit) && received[1] === `${limit};w=1`)
    return ok(`RateLimit-Limit: ${limit} reaches clients.`);
  return warning(
    `Clients get RateLimit-Limit: ${received[0]} and RateLimit-Policy: ${received[1]}, but RATE_LIMIT is ${limit}.`,
    "Run the doctor with the service's settings, or check whether the proxy throttles.",
  );
}

function requestIds(headers: Headers): Verdict {
  const received = headers.get("x-request-id");
  if (received === requestId) return ok("X-Request-Id is passed on both ways, so you can search the logs for it.");
  return warning(
    received === null ? "X-Request-Id does not reach clients." : "The proxy replaces X-Request-Id.",
    "Configure the proxy to pass it on both ways.",
  );
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value = JSON.parse(text) as unknown;
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
