// What the table of rooms permits beyond what is needed, and who reaches the programs.
import { importsOf } from "../rules/imports.ts";
import type { Room } from "./service-rooms.ts";
import { domain } from "./service-rooms.ts";
import type { Source } from "./sources.ts";

/** The permissions that no file uses. What every domain and every test has (`shared`) need not be used by each. */
export function unusedPermissions(
  table: readonly Room[],
  imports: ReadonlyMap<string, readonly string[]>,
  shared: readonly string[],
): string[] {
  const targetsOf = new Map<string | undefined, readonly string[]>();
  for (const [path, targets] of imports) {
    const own = table.find(([room]) => path.startsWith(room))?.[0];
    targetsOf.set(own, [...(targetsOf.get(own) ?? []), ...targets]);
  }
  return table.flatMap(([room, may]) => {
    const targets = targetsOf.get(room) ?? [];
    const common = room.startsWith("test/") && may !== shared ? shared : domain(room);
    const granted = may.filter((one) => one !== room && !common.includes(one));
    return granted.filter((one) => !targets.some((target) => target.startsWith(one))).map((one) => `${room} ← ${one}`);
  });
}

/** The imports of main by anyone, and of the composition root by others than main and the fixtures. */
export function importsOfPrograms(sources: readonly Source[]): string[] {
  const allowed: readonly (readonly [target: RegExp, importer: RegExp])[] = [
    [/^src\/main\.ts$/, /^never$/],
    [/^src\/app\.ts$/, /^(?:src\/main\.ts$|fixtures\/service\/)/],
    [/^src\/app\//, /^src\/app[./]/],
  ];
  return sources
    .filter(({ path }) => !/^(?:test|scripts)\//.test(path))
    .flatMap((source) =>
      importsOf(source)
        .filter((one) => allowed.some(([target, importer]) => target.test(one) && !importer.test(source.path)))
        .map((one) => `${source.path} → ${one}`),
    );
}
