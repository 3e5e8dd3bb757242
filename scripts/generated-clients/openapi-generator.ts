// OpenAPI Generator, a single Java program for all languages.
import { copyFileSync, cpSync } from "node:fs";
import { join } from "node:path";
import { testCacheDir } from "../../test/fixtures/databases/cache-dir.ts";
import { isInstalled } from "../../test/fixtures/installed.ts";
import { madeOnce } from "../made-once.ts";
import { run } from "./run.ts";

/** The same version as in programs/java/pom.xml. */
export const openApiGeneratorVersion = "7.25.0";
const copyJars = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";
/** For a single short run: letting the JVM optimize the generator costs more than it saves. */
export const quickJava = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];
const programs = join(import.meta.dirname, "programs");

/** What it needs that this machine lacks; undefined if it can run. */
export function missingForJava(): string | undefined {
  return ["java", "javac", "mvn"].every(isInstalled) ? undefined : "a JDK and Maven";
}

/** The folder with its jar and the jars that its Java client needs. */
export function jars(): string {
  return madeOnce(join(testCacheDir(), "java", `openapi-generator-${openApiGeneratorVersion}`), (folder) => {
    copyFileSync(join(programs, "java/pom.xml"), join(folder, "pom.xml"));
    run("mvn", ["--quiet", "--batch-mode", copyJars, `-DoutputDirectory=${folder}`], folder);
  });
}

/** Generates a client in `folder/generated`, without documentation and tests, and returns the output. */
export function generateWith(generator: string, options: readonly string[], document: string, folder: string): string {
  const jar = join(jars(), `openapi-generator-cli-${openApiGeneratorVersion}.jar`);
  const parts = "apiDocs=false,modelDocs=false,apiTests=false,modelTests=false";
  const target = ["generate", "-g", generator, "-i", document, "-o", "generated", "--global-property", parts];
  return run("java", [...quickJava, "-jar", jar, ...target, ...options], folder).all;
}

/** Copies the program of this name next to its client. */
export function copyProgram(name: string, folder: string): void {
  cpSync(join(programs, name), folder, { recursive: true });
}
