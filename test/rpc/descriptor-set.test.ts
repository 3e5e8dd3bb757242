// /records.binpb, from which clients in other languages are generated.
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { useService } from "../support/client.ts";

const service = useService();

async function readSet() {
  const response = await fetch(`${service().base}/records.binpb`);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/octet-stream"]);
  return fromBinary(FileDescriptorSetSchema, new Uint8Array(await response.arrayBuffer()));
}

test("the descriptor set has the services of the public listener, and every file that they import [WIR-01]", async () => {
  const set = await readSet();
  const services = set.file.flatMap((file) => file.service.map(({ name }) => `${file.package}.${name}`));
  expect(services.sort()).toEqual([
    "records.v1.ContactService",
    "records.v1.HealthService",
    "records.v1.NoteService",
    "records.v1.SessionService",
  ]);
  // Throws if an import is missing, or comes after the file that imports it.
  const registry = createFileRegistry(set);
  expect(registry.getMessage("google.rpc.ErrorInfo")).toBeDefined();
  expect(registry.getEnum("records.v1.Reason")?.values.map(({ name }) => name)).toContain("REASON_DUPLICATE_EMAIL");
  expect(registry.getMessage("records.v1.CreateContactRequest")?.field["fullName"]?.name).toBe("full_name");
});

test("a client that is generated from the set needs no package of another project", async () => {
  const set = await readSet();
  const foreign = set.file
    .map(({ name }) => name)
    .filter((name) => !/^(records\/v1|google\/(protobuf|rpc))\//.test(name));
  expect(foreign).toEqual([]);
  for (const { name, options } of set.file) expect(options?.goPackage, name).toMatch(/^[a-z.]+\/./);
});

test("the set is served as other documents are: with a validator, compressed, and for scripts of any origin", async () => {
  const url = `${service().base}/records.binpb`;
  const plain = await fetch(url, { headers: { "Accept-Encoding": "identity" } });
  expect(plain.headers.get("access-control-allow-origin")).toBe("*");
  const again = await fetch(url, {
    headers: { "Accept-Encoding": "identity", "If-None-Match": plain.headers.get("etag") ?? "" },
  });
  expect(again.status).toBe(304);
  const whole = Buffer.from(await plain.arrayBuffer());
  const zipped = await fetch(url, { headers: { "Accept-Encoding": "gzip" } });
  expect(zipped.headers.get("content-encoding")).toBe("gzip");
  expect(Buffer.from(await zipped.arrayBuffer()).equals(whole)).toBe(true);
});
