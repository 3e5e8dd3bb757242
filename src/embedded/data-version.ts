// The version of an embedded mongod's data: MongoDB's feature compatibility version, which decides which mongod can
// open the data.
import { MongoNetworkError, MongoServerError, type Db } from "mongodb";

/** The id of the log line with which a mongod reports that its data is too old or too new. */
const wrongVersionId = 20573;

/**
 * Raises the data to the version of the mongod that opened it. A mongod opens data of the previous major version, but
 * never raises the version on its own. Data that 6.0 created would stay at 6.0 under 7.0, and 8.0 could not open it.
 * Raised at each start, the data can be opened by the next version. If it is too old, a start with the version in
 * between repairs it. Data of a major release stays so under its minor releases, which the next major one may not open.
 *
 * As a drawback, the older mongod can no longer open the data. This is acceptable: programs are replaced by newer ones,
 * and the error of a start names the version that opens the data. Operators who need to downgrade run their own
 * MongoDB. A line of progress reports the change. If mongod rejects the command, the data keeps its version and is
 * served.
 */
export async function raiseDataVersion(admin: Db, progress: (line: string) => void): Promise<void> {
  const [{ version: program }, parameters] = await Promise.all([
    admin.command({ buildInfo: 1 }) as Promise<{ version: string }>,
    admin.command({ getParameter: 1, featureCompatibilityVersion: 1 }),
  ]);
  const { version: data } = parameters["featureCompatibilityVersion"] as { readonly version: string };
  const command = raisingCommand(data, program);
  if (command === undefined) return;
  const raised = command.setFeatureCompatibilityVersion;
  const raise = (): Promise<unknown> => admin.command({ ...command });
  try {
    // mongod may close connections while it raises the version. The command can be repeated.
    await raise().catch((error: unknown) => (error instanceof MongoNetworkError ? raise() : Promise.reject(error)));
    progress(`The embedded data is now that of MongoDB ${raised}: an older mongod cannot open it any more.`);
  } catch (error) {
    if (!(error instanceof MongoServerError)) throw error;
    progress(
      `The embedded data stays that of MongoDB ${data}: mongod ${program} cannot upgrade it (${error.codeName}).`,
    );
  }
}

/**
 * Returns the command that raises data to the version of the program, such as "7.0.14", or undefined if none is needed.
 */
export function raisingCommand(
  data: string,
  program: string,
): { readonly setFeatureCompatibilityVersion: string; readonly confirm?: true } | undefined {
  if (compare(data, program) >= 0) return undefined;
  const [major, minor] = parsed(program);
  if (data === `${major}.0`) return undefined;
  const setFeatureCompatibilityVersion = `${major}.${minor}`;
  // 7.0 and later require a confirmation, because only the vendor can undo the change. 6.0 rejects the field.
  return major >= 7 ? { setFeatureCompatibilityVersion, confirm: true } : { setFeatureCompatibilityVersion };
}

/**
 * Explains why a mongod of this version did not open its data, and how to open it. Returns undefined if the log has
 * another reason.
 */
export function wrongDataVersion(log: string, program: string): string | undefined {
  const line = log.split("\n").find((one) => one.includes(`"id":${wrongVersionId},`));
  // The error quotes the version document within a JSON string.
  const data =
    line === undefined ? undefined : /featureCompatibilityVersion\\", version: \\"(\d+\.\d+)\\"/.exec(line)?.[1];
  if (data === undefined) return undefined;
  const problem = `the data is that of MongoDB ${data}, which mongod ${program} cannot open`;
  const age = compare(data, program);
  if (age > 0) return `${problem}; set MONGOMS_SYSTEM_BINARY to mongod ${data}`;
  return age === 0
    ? undefined
    : `${problem}; set MONGOMS_SYSTEM_BINARY, and start once with each release in between, which upgrades it`;
}

/** Compares two versions by their major and minor parts only. */
function compare(one: string, other: string): number {
  const [[major, minor], [otherMajor, otherMinor]] = [parsed(one), parsed(other)];
  return major - otherMajor || minor - otherMinor;
}

function parsed(version: string): readonly [major: number, minor: number] {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return [major, minor];
}
