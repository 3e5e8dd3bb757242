// The start of the embedded mongod: with the allocator's tunable, and past programs that cannot run on this machine.
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { startMongod } from "../../src/embedded/mongod.ts";
import { addProgram, optionsFor, programs, temporaryFolder } from "./machine.ts";

vi.setConfig({ testTimeout: 120_000 });

test.each([
  ["a guard against the kernel", `echo '{"s":"F","id":12257600,"msg":"MongoDB cannot start","attr":{}}'; exit 1`],
  ["a signal", "kill -SEGV $$"],
])("a program on PATH that ends by %s gives way to the next source [OPS-18]", async (_how, end) => {
  const folder = await temporaryFolder();
  const PATH = await programs({ mongod: `[ "$1" = --version ] && echo "db version v8.0.30" || { ${end}; }` });
  const options = optionsFor(folder);
  const server = await startMongod({
    ...options,
    env: { ...process.env, MONGOMS_SYSTEM_BINARY: "", PATH: `${PATH}${delimiter}${process.env["PATH"]}` },
  });
  onTestFinished(() => server.stop());
  expect(server.source).not.toContain(PATH);
  expect(options.lines[0]).toMatch(/^mongod 8\.0\.30 \(PATH .*\) does not start: .*; trying the next source$/);
  expect(options.lines[1]).toBe(`PATH: ${join(PATH, "mongod")} does not start; trying the next source`);
});

test("glibc registers restartable sequences for mongod, whatever its tunables were [OPS-18]", async () => {
  const folder = await temporaryFolder();
  const script = `[ "$1" = --version ] && echo "db version v8.0.4" || { echo "has $GLIBC_TUNABLES"; exit 1; }`;
  const path = await addProgram(folder, "mongod-8", script);
  for (const [before, after] of [
    [undefined, "glibc.pthread.rseq=1"],
    ["glibc.pthread.rseq=0:glibc.malloc.check=1", "glibc.malloc.check=1:glibc.pthread.rseq=1"],
  ]) {
    const env = { ...process.env, MONGOMS_SYSTEM_BINARY: path, GLIBC_TUNABLES: before };
    await expect(startMongod({ ...optionsFor(folder), env })).rejects.toThrow(`has ${after} (log: `);
  }
});
