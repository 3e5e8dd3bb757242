// The version of an embedded mongod's data, MongoDB's feature compatibility version: it decides which mongod opens it.
import { MongoServerError, type Db } from "mongodb";

/** The line of its log in which a mongod says that its data is too old or too new for it. */
const wrongVersionId = 20573;
/** Of the major versions, those since 5.0 end with 0. */
const firstWhole = 5;

/**
 * Raises the data to the version of the mongod that has opened it. A mongod opens data of its own version and of the
 * major version before, and raises nothing by itself: data that 6.0 has created would stay at 6.0 under 7.0, and no 8.0
 * could open it. Raised at each start, it can be opened by the next version, and data that is too old is repaired by a
 * start with the version in between.
 *
 * The price is that the older mongod cannot open it any more. That is the better half here: programs are replaced by
 * newer ones, the error of a start names the version that opens the data, and whoever plans a way back runs a MongoDB
 * of their own. So that it does not happen in silence, a line says it. Where mongod rejects it, the data is served as
 * it is.
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
  try {
    await admin.command({ ...command });
    progress(`The embedded data is now that of MongoDB ${raised}: an older mongod cannot open it any more.`);
  } catch (error) {
    if (!(error instanceof MongoServerError)) throw error;
    progress(`The embedded data stays that of MongoDB ${data}: mongod ${program} cannot raise it (${error.codeName}).`);
  }
}

/** The command that raises data to the version of the program, such as "7.0.14"; undefined where none is needed. */
export function raisingCommand(
  data: string,
  program: string,
): { readonly setFeatureCompatibilityVersion: string; readonly confirm?: true } | undefined {
  if (compare(data, program) >= 0) return undefined;
  const [major, minor] = parsed(program);
  const setFeatureCompatibilityVersion = `${major}.${minor}`;
  // From 7.0 on there is no way back without the vendor, so it requires a confirmation; 6.0 rejects the field.
  return major >= 7 ? { setFeatureCompatibilityVersion, confirm: true } : { setFeatureCompatibilityVersion };
}

/** Why a mongod of this version did not open its data, and what does; undefined where its log says something else. */
export function wrongDataVersion(log: string, program: string): string | undefined {
  const line = log.split("\n").find((one) => one.includes(`"id":${wrongVersionId},`));
  // The document that holds the version, as the error shows it within a string of JSON.
  const data =
    line === undefined ? undefined : /featureCompatibilityVersion\\", version: \\"(\d+\.\d+)\\"/.exec(line)?.[1];
  if (data === undefined) return undefined;
  const problem = `the data is that of MongoDB ${data}, which mongod ${program} cannot open`;
  if (compare(data, program) > 0) return `${problem}; set MONGOMS_SYSTEM_BINARY to mongod ${data}`;
  const steps = majorsBetween(data, program);
  if (steps.length === 0) return undefined;
  return `${problem}; set MONGOMS_SYSTEM_BINARY, and start once with mongod ${steps.join(", then with ")}, which raises it`;
}

/** The major versions after the one and before the other, each of which opens data of the one before it. */
function majorsBetween(data: string, program: string): string[] {
  const whole = Array.from(
    { length: Math.max(0, parsed(program)[0] - firstWhole + 1) },
    (_, at) => `${firstWhole + at}.0`,
  );
  return ["4.2", "4.4", ...whole].filter((major) => compare(data, major) < 0 && compare(major, program) < 0);
}

/** By major and minor version alone. */
function compare(one: string, other: string): number {
  const [[major, minor], [otherMajor, otherMinor]] = [parsed(one), parsed(other)];
  return major - otherMajor || minor - otherMinor;
}

function parsed(version: string): readonly [major: number, minor: number] {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return [major, minor];
}
