// What REDIS_URL may name, and what is wrong with any other value: its parser, without a server.
import { expect, test } from "vitest";
import { ConfigError } from "../../src/config/config-error.ts";
import { createRedaction, shownUri } from "../../src/cli/doctor/redaction.ts";
import { readConfig } from "../../src/config/config.ts";
import { parseRedisUrl } from "../../src/config/redis-url.ts";

const password = "p@s:s/w?o#r%d,&+[1]é";
const encoded = encodeURIComponent(password);
const plain = { tls: false, credentials: {} };

test.each([
  ["redis://cache", { kind: "server", ...plain, nodes: [{ host: "cache", port: 6379 }], database: 0 }],
  ["redis://cache:6380/", { kind: "server", ...plain, nodes: [{ host: "cache", port: 6380 }], database: 0 }],
  [
    `rediss://ann:${encoded}@[::1]:7/12`,
    {
      kind: "server",
      tls: true,
      nodes: [{ host: "::1", port: 7 }],
      credentials: { username: "ann", password },
      database: 12,
    },
  ],
  [
    "redis+sentinel://s1,s2:5000,[2001:db8::1]/main",
    {
      kind: "sentinel",
      ...plain,
      nodes: [
        { host: "s1", port: 26379 },
        { host: "s2", port: 5000 },
        { host: "2001:db8::1", port: 26379 },
      ],
      master: "main",
      database: 0,
      sentinelCredentials: {},
    },
  ],
  [
    `rediss+sentinel://:${encoded}@s1/main/3?sentinelUsername=watch&sentinelPassword=${encoded}`,
    {
      kind: "sentinel",
      tls: true,
      nodes: [{ host: "s1", port: 26379 }],
      credentials: { password },
      master: "main",
      database: 3,
      sentinelCredentials: { username: "watch", password },
    },
  ],
  [
    "redis+sentinel://s1/main/?sentinelPassword=a+b",
    {
      kind: "sentinel",
      ...plain,
      nodes: [{ host: "s1", port: 26379 }],
      master: "main",
      database: 0,
      sentinelCredentials: { password: "a+b" },
    },
  ],
  [
    `redis+cluster://ann:${encoded}@c1:7000,C1:7000,c2,[::1]:7001/`,
    {
      kind: "cluster",
      tls: false,
      nodes: [
        { host: "c1", port: 7000 },
        { host: "c2", port: 6379 },
        { host: "::1", port: 7001 },
      ],
      credentials: { username: "ann", password },
    },
  ],
  [
    "rediss+cluster://nopass@c1",
    {
      kind: "cluster",
      tls: true,
      nodes: [{ host: "c1", port: 6379 }],
      credentials: { username: "nopass", password: "" },
    },
  ],
])("accepts %s [OPS-14]", (url, expected) => {
  expect(parseRedisUrl(url)).toEqual(expected);
  expect(readConfig({ REDIS_URL: url }).redisUrl).toBe(url);
});

test.each([
  ["cache:6379", /^must begin with redis:\/\//],
  ["REDIS://cache", /^must begin with redis:\/\//],
  ["redis+sentinels://s1/main", /^must begin with redis:\/\//],
  ["redis://", /^must have the form redis:\/\/host:port\/database/],
  ["redis://a,b", /^names several hosts/],
  ["redis://cache/first", /^must end with the number of a database/],
  ["redis://u:hunter2/more@cache", /^must have the form|^must end with/],
  ["redis://u:12/hunter2@cache", /^must end with the number of a database/],
  ["redis+cluster://", /^must have the form redis\+cluster:\/\//],
  ["redis+cluster://c1,,c2", /^must have the form/],
  ["redis+cluster://c1,c2,", /^must have the form/],
  ["redis+cluster://c1 c2", /^must have the form/],
  ["redis+cluster://c1:0", /^must name each host with a port from 1 to 65535/],
  ["redis+cluster://c1:65536", /^must name each host with a port/],
  ["redis+cluster://::1:7000", /^must have the form/],
  ["redis+cluster://[1:2]:7000", /an IPv6 address in brackets/],
  ["redis+cluster://c1/1", /^must not name a database of a cluster/],
  ["redis+cluster://c1?timeout=1", /^must not have options for a cluster/],
  ["redis+cluster://u:hunter2%@c1", /^has a percent sign that does not encode a character/],
  ["redis+cluster://u:hunter2#@c1", /and # as %23/],
  ["redis+cluster://u:hunter2/x@c1", /^must have the form/],
  ["redis+cluster://u:hunter2?x@c1", /^must have the form/],
  ["redis+sentinel://s1", /^must name the master as the Sentinels do/],
  ["redis+sentinel://s1/", /^must name the master/],
  ["redis+sentinel://u:12/hunter2@s1/main", /^must name the master/],
  ["redis+sentinel://s1/main/x", /^must end with the number of a database/],
  ["redis+sentinel://s1/main?password=hunter2", /^may have only the options sentinelUsername or sentinelPassword/],
  ["redis+sentinel://s1/main?sentinelPassword=a&sentinelPassword=hunter2", /^may have only the options/],
  ["redis+sentinel://s1/main?sentinelPassword=hunter2%", /^has a percent sign/],
])("rejects %s by its name, and repeats no password [OPS-14]", (url, problem) => {
  try {
    readConfig({ REDIS_URL: url });
    expect.fail(`${url} was taken`);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    expect(error.variable).toBe("REDIS_URL");
    expect(error.problem).toMatch(problem);
    expect(error.message).not.toMatch(/hunter2|\n/);
  }
});

test("the doctor shows neither the password of the servers nor that of the Sentinels [OPS-04]", () => {
  const [servers, sentinels] = ["of/the servers", "of&the sentinels"];
  const url = `rediss+sentinel://ann:${encodeURIComponent(servers)}@s1,s2/main/1?sentinelPassword=${encodeURIComponent(sentinels)}`;
  expect(shownUri(url)).toBe("rediss+sentinel://s1,s2/main/1");
  const redact = createRedaction(readConfig({ REDIS_URL: url }));
  expect(redact(`${url} ${servers} ${sentinels}`)).not.toMatch(/of.{0,2}%?.?the/);
});
