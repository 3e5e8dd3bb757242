// The version of an embedded mongod's data: raised by each start, and named if a mongod cannot open it.
import { MongoClient } from "mongodb";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { raiseDataVersion, raisingCommand, wrongDataVersion } from "../../src/embedded/data-version.ts";
import { startMongod } from "../../src/embedded/mongod.ts";
import { asMember } from "../../src/embedded/replica-set.ts";
import { readSecret } from "../../src/embedded/secrets.ts";
import type { EmbeddedServer } from "../../src/embedded/server.ts";
import { addProgram, optionsFor, temporaryFolder } from "./machine.ts";

vi.setConfig({ testTimeout: 120_000 });

/** What the versions' own mongod logs, with the data's version and those that it opens. */
const logOf = (data: string, opened: string): string =>
  [
    `{"t":{"$date":"2026-03-06T17:06:49.700Z"},"s":"I",  "c":"STORAGE",  "id":22315,   "ctx":"initandlisten","msg":"Opening WiredTiger","attr":{}}`,
    `{"t":{"$date":"2026-03-06T17:06:49.785Z"},"s":"F",  "c":"CONTROL",  "id":20573,   "ctx":"initandlisten","msg":"Wrong mongod version","attr":{"error":"UPGRADE PROBLEM: Found an invalid featureCompatibilityVersion document (ERROR: Location4926900: Invalid featureCompatibilityVersion document in admin.system.version: { _id: \\"featureCompatibilityVersion\\", version: \\"${data}\\" }. See https://docs.mongodb.com/master/release-notes/6.0-compatibility/#feature-compatibility. :: caused by :: Invalid feature compatibility version value '${data}'; expected ${opened}. See https://docs.mongodb.com/master/release-notes/6.0-compatibility/#feature-compatibility.). If the current featureCompatibilityVersion is below 6.0, see the documentation on upgrading at https://docs.mongodb.com/master/release-notes/6.0/#upgrade-procedures."}}`,
    `{"t":{"$date":"2026-03-06T17:06:49.900Z"},"s":"I",  "c":"CONTROL",  "id":23138,   "ctx":"initandlisten","msg":"Shutting down","attr":{"exitCode":62}}`,
  ].join("\n");

describe("the data version", () => {
  test.each([
    ["4.2", "4.4.29", { setFeatureCompatibilityVersion: "4.4" }],
    ["5.0", "6.0.5", { setFeatureCompatibilityVersion: "6.0" }],
    ["6.0", "7.0.14", { setFeatureCompatibilityVersion: "7.0", confirm: true }],
    ["8.0", "9.0.1", { setFeatureCompatibilityVersion: "9.0", confirm: true }],
    ["8.2", "8.3.17", { setFeatureCompatibilityVersion: "8.3", confirm: true }],
    ["8.3", "9.0.1", { setFeatureCompatibilityVersion: "9.0", confirm: true }],
    ["9.0", "10.0.0", { setFeatureCompatibilityVersion: "10.0", confirm: true }],
  ])("raises data of %s under mongod %s, from 7.0 on with a confirmation", (data, program, command) => {
    expect(raisingCommand(data, program)).toEqual(command);
  });

  test.each([
    ["6.0", "6.0.5"],
    ["8.2", "8.2.6"],
    ["8.0", "8.2.6"],
    ["8.0", "8.3.17"],
    ["10.0", "9.0.1"],
  ])("keeps data of %s under mongod %s", (data, program) => {
    expect(raisingCommand(data, program)).toBeUndefined();
  });
});

describe("the reason of a failed start", () => {
  test("says that the releases in between upgrade data that is too old", () => {
    expect(wrongDataVersion(logOf("6.0", "'7.0' or '7.3' or '8.0'"), "8.0.4")).toBe(
      "the data is that of MongoDB 6.0, which mongod 8.0.4 cannot open; set MONGOMS_SYSTEM_BINARY, and start once with each release in between, which upgrades it",
    );
  });

  test("names the version of data that is too new", () => {
    expect(wrongDataVersion(logOf("8.2", "'5.0' or '5.3' or '6.0'"), "6.0.5")).toBe(
      "the data is that of MongoDB 8.2, which mongod 6.0.5 cannot open; set MONGOMS_SYSTEM_BINARY to mongod 8.2",
    );
  });

  test.each(["", "not JSON", logOf("9.2", "'9.0' or '10.0'").replaceAll("20573", "20574"), logOf("6.0", "'6.0'")])(
    "is not read from any other log",
    (log) => {
      expect(wrongDataVersion(log, "6.0.5")).toBeUndefined();
    },
  );

  test("is in the error of the start", async () => {
    const folder = await temporaryFolder();
    const log = logOf("6.0", "'7.0' or '7.3' or '8.0'");
    const script = `[ "$1" = --version ] && echo "db version v8.0.4" || { cat <<'LOG'\n${log}\nLOG\nexit 62; }`;
    const path = await addProgram(folder, "mongod-8", script);
    const options = { ...optionsFor(folder), env: { ...process.env, MONGOMS_SYSTEM_BINARY: path } };
    await expect(startMongod(options)).rejects.toThrow(
      /^mongod 8\.0\.4 \(.*\) does not start: the data is that of MongoDB 6\.0, which .* \(log: .*mongod\.log\)$/,
    );
  });
});

describe("a start", () => {
  async function onMongod<T>(server: EmbeddedServer, dataDir: string, work: (client: MongoClient) => Promise<T>) {
    const key = (await readSecret(dataDir, "mongodb-key")) ?? "";
    const client = new MongoClient(`${server.shownUri}?directConnection=true`, asMember(key));
    try {
      return await work(client);
    } finally {
      await client.close();
    }
  }
  const versionOn = (server: EmbeddedServer, dataDir: string): Promise<unknown> =>
    onMongod(server, dataDir, async (client) => {
      const parameters = await client.db("admin").command({ getParameter: 1, featureCompatibilityVersion: 1 });
      return (parameters["featureCompatibilityVersion"] as { version: string }).version;
    });

  test("raises the data of the previous version, and says that there is no way back", async () => {
    const dataDir = await temporaryFolder();
    const options = optionsFor(dataDir);
    const first = await startMongod(options);
    onTestFinished(() => first.stop());
    const own = await versionOn(first, dataDir);
    const before = `${Number.parseInt(String(own), 10) - 1}.0`;
    await onMongod(first, dataDir, (client) =>
      client.db("admin").command({ ...raisingCommand("0.0", first.version), setFeatureCompatibilityVersion: before }),
    );
    await first.stop();
    options.lines.length = 0;
    const second = await startMongod(options);
    onTestFinished(() => second.stop());
    expect(await versionOn(second, dataDir)).toBe(own);
    expect(options.lines).toEqual([
      `The embedded data is now that of MongoDB ${own}: an older mongod cannot open it any more.`,
    ]);
    const lines: string[] = [];
    await onMongod(second, dataDir, (client) => raiseDataVersion(client.db("admin"), (line) => lines.push(line)));
    expect(lines).toEqual([]);
  });
});
