// The generator for Java clients: OpenAPI Generator, with the JDK's own HTTP client.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Generator } from "./generator.ts";
import {
  copyProgram,
  generateWith,
  jars,
  missingForJava,
  openApiGeneratorVersion,
  quickJava,
} from "./openapi-generator.ts";
import { run } from "./run.ts";

const options = [
  ...["--library", "native", "--invoker-package", "records"],
  ...["--api-package", "records.api", "--model-package", "records.model"],
];

export const openApiGeneratorJava: Generator = {
  name: "java",
  version: openApiGeneratorVersion,
  language: "Java",
  missing: missingForJava,
  generate(document, folder) {
    copyProgram("java", folder);
    return generateWith("java", options, document, folder);
  },
  compile(folder) {
    const sources = join(folder, "generated/src/main/java");
    const files = readdirSync(sources, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".java"));
    const flags = ["-J-XX:TieredStopAtLevel=1", "-nowarn", "-proc:none", "-d", "classes", "-cp", join(jars(), "*")];
    run("javac", [...flags, "Program.java", ...files.map((name) => join(sources, name))], folder);
  },
  command: (folder) => ["java", ...quickJava, "-cp", `${join(folder, "classes")}:${join(jars(), "*")}`, "Program"],
};
