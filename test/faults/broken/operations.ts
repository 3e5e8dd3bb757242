// Lists every operation of the generated descriptors.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { DescService } from "@bufbuild/protobuf";

const generated = join(import.meta.dirname, "../../../src/gen/records");

/** The full names of all RPCs under `records`, unary and streaming. */
export async function everyOperation(): Promise<string[]> {
  const files = readdirSync(generated, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith("_pb.ts"));
  const modules = await Promise.all(
    files.map((name) => import(join(generated, name)) as Promise<Record<string, unknown>>),
  );
  const services = modules.flatMap((module) => Object.values(module).filter(isService));
  return services.flatMap(({ typeName, methods }) => methods.map(({ name }) => `${typeName}/${name}`)).sort();
}

function isService(value: unknown): value is DescService {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "service";
}
