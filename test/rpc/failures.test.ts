// A surface of rpcs over a dispatch that fails, and with clients that disconnect or never end.
import { createServer, request as httpRequest } from "node:http";
import { createServer as createHttp2 } from "node:http2";
import type { AddressInfo } from "node:net";
import { create } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../src/embedded/wait.ts";
import type { Failure } from "../../src/call/errors.ts";
import { rejectInput } from "../../src/call/errors.ts";
import { ContactService, CreateContactResponseSchema } from "../../src/gen/records/v1/contacts_pb.ts";
import { inboundOf } from "../../src/http/inbound.ts";
import type { Request, Response } from "../../src/call/exchange.ts";
import { createRpcSurface } from "../../src/rpc/connect.ts";
import type { AdmittedCall, Dispatch } from "../../src/call/dispatch.ts";
import { exchange } from "../fixtures/clients/raw.ts";
import { startService } from "../fixtures/service/service.ts";
import { enveloped, forms, send } from "./forms.ts";

const rpc = ContactService.method.createContact;
const path = `/${rpc.parent.typeName}/${rpc.name}`;

interface Surface {
  readonly base: string;
  readonly errors: Failure[];
  readonly steps: string[];
}

/** A surface on a port of its own. */
async function surfaceOver(behaviour: Partial<Dispatch & AdmittedCall>, http: 1 | 2 = 1): Promise<Surface> {
  const errors: Failure[] = [];
  const steps: string[] = [];
  const admitted: AdmittedCall = {
    invoke:
      behaviour.invoke ??
      (async () => ({ message: create(CreateContactResponseSchema), replayed: false, body: undefined })),
    reject: async (found) => rejectInput(found),
    prove: async () => undefined,
    headViolations: () => [],
  };
  const dispatch: Dispatch = {
    throttle: behaviour.throttle ?? (async () => undefined),
    async admit(...given) {
      steps.push("admit");
      await behaviour.admit?.(...given);
      return {
        invoke: (message, found) => (steps.push("invoke"), admitted.invoke(message, found)),
        reject: (found) => (steps.push("reject"), admitted.reject(found)),
        prove: () => admitted.prove(),
        headViolations: () => admitted.headViolations(),
      };
    },
  };
  const surface = createRpcSurface([rpc], dispatch, (failure) => void errors.push(failure));
  const handle = (request: Request, response: Response): void =>
    void surface.handle(path, request, response, inboundOf(request, 0)).then(() => steps.push("completed"));
  const server =
    http === 1
      ? createServer(handle)
      : createHttp2((request, response) => handle(request as unknown as Request, response as unknown as Response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    if ("closeAllConnections" in server) server.closeAllConnections();
    server.close();
  });
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, errors, steps };
}

test("an unexpected error before the guards is 500 in the envelope, and is logged [ERR-07]", async () => {
  const { base, errors } = await surfaceOver({ throttle: () => Promise.reject(new Error("secret of the inside")) });
  for (const method of ["OPTIONS", "PUT"]) {
    const response = await fetch(base + path, { method });
    expect([response.status, await response.json()]).toEqual([
      500,
      {
        error: {
          code: "500",
          message: "Something went wrong in the service. If it happens again, report its X-Request-Id to the operator.",
          reason: "INTERNAL",
        },
      },
    ]);
  }
  expect(errors.map(({ cause }) => (cause as Error).message)).toEqual(["secret of the inside", "secret of the inside"]);
});

test.each(["admit", "invoke"] as const)(
  "an unexpected error in %s is reported in the protocol without internal details, and is logged once [ERR-07]",
  async (step) => {
    for (const form of forms.filter(({ http }) => http === 1)) {
      const { base, errors } = await surfaceOver({ [step]: () => Promise.reject(new Error("secret of the inside")) });
      const { code, reason, message } = await send(
        base,
        form,
        rpc,
        enveloped(form, form.json ? Buffer.from("{}") : Buffer.alloc(0)),
      );
      expect([code, reason, message], form.name).toEqual([
        "internal",
        "INTERNAL",
        "Something went wrong in the service. If it happens again, report its X-Request-Id to the operator.",
      ]);
      expect(errors).toHaveLength(1);
    }
  },
);

test("nothing is run or logged for a client that disconnects in the middle of its message [WIR-01]", async () => {
  const { base, errors, steps } = await surfaceOver({});
  const client = httpRequest(base + path, {
    method: "POST",
    headers: { "content-type": "application/json", "content-length": 100 },
  });
  client.on("error", () => undefined);
  client.write('{"full_name":"');
  await until(() => steps.includes("admit"), AbortSignal.timeout(4_000));
  client.destroy();
  await until(() => steps.includes("completed"), AbortSignal.timeout(4_000));
  expect([steps, errors]).toEqual([["admit", "completed"], []]);
});

test("serves the request after a message that was too large on the same connection [VAL-04]", async () => {
  const { base } = await surfaceOver({});
  const head = (length: number): string =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
  const { responses } = await exchange(base, `${head(2_000_000)}${"x".repeat(2_000_000)}${head(2)}{}`, 2_000);
  expect(responses.map(({ status }) => status)).toEqual([400, 200]);
});

test("health on the internal listener rejects an unknown property, and a message over a mebibyte [ADM-02]", async () => {
  const service = await startService();
  onTestFinished(() => service.stop());
  const check = (message: unknown) =>
    service.internalCall("grpc.health.v1.Health/Check", message, { Authorization: "" });
  expect((await check({ service: "" })).status).toBe(200);
  expect((await check({ service: "", foo: 1 })).body.code).toBe("invalid_argument");
  expect((await check({ service: "x".repeat(1_100_000) })).body.code).toBe("resource_exhausted");
});
