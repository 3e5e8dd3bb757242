// Time zones of calendars: by the definition in the file, or by name, as programs write the names.
import ICAL from "ical.js";
import windows from "./windows-zones.json" with { type: "json" };

const windowsZones: ReadonlyMap<string, string> = new Map(Object.entries(windows));

/** A calendar whose events can name a zone that it does not define. `otherwise` is used for one that is not known. */
export class ZonedCalendar extends ICAL.Component {
  readonly #zones = new Map<string, ICAL.Timezone | undefined>();
  readonly #otherwise: string | undefined;

  constructor(otherwise: string | undefined) {
    super("vcalendar");
    this.#otherwise = otherwise;
  }

  override getTimeZoneByID(tzid: string): ICAL.Timezone {
    if (!this.#zones.has(tzid)) this.#zones.set(tzid, this.#zoneOf(tzid));
    // The types of the library leave out that a zone can be unknown.
    return this.#zones.get(tzid) as ICAL.Timezone;
  }

  #zoneOf(tzid: string): ICAL.Timezone | undefined {
    const component = this.getAllSubcomponents("vtimezone").find((one) => one.getFirstPropertyValue("tzid") === tzid);
    const hasRules = ["standard", "daylight"].some((name) => component?.getFirstSubcomponent(name));
    // The definition of a well-known zone can be cut to the rules of one year.
    if (component !== undefined && hasRules && !isKnown(tzid)) return new ICAL.Timezone({ component, tzid });
    const place = component?.getFirstPropertyValue("x-lic-location");
    const said = typeof place === "string" ? nameOf(place) : undefined;
    const name = nameOf(tzid) ?? said ?? nameOfPlaces(tzid);
    const offset = name === undefined ? offsetOf(tzid) : undefined;
    if (offset !== undefined) return new FixedZone(tzid, offset);
    const known = name ?? this.#otherwise;
    return known === undefined ? undefined : new NamedZone(tzid, known);
  }
}

/** A zone without a name: `UTC+01:00`, `GMT+0530`, `-5`. */
class FixedZone extends ICAL.Timezone {
  readonly #offset: number;

  constructor(tzid: string, offset: number) {
    super({ tzid });
    this.#offset = offset;
  }

  override utcOffset(): number {
    return this.#offset;
  }
}

/** Returns the offset that is all that a name says, in seconds. In brackets, as Outlook shows it, the clocks can change. */
function offsetOf(said: string): number | undefined {
  const [, sign, hours, minutes = 0] = /^(?:UTC|GMT)? ?([+-])(\d\d?)(?:[:.]?(\d\d))?$/i.exec(said) ?? [];
  return sign === undefined ? undefined : (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60;
}

/** A zone of the IANA database. */
class NamedZone extends ICAL.Timezone {
  readonly #format: Intl.DateTimeFormat;

  constructor(tzid: string, timeZone: string) {
    super({ tzid });
    this.#format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  }

  /** Returns the offset of a local time from UTC, in seconds. */
  override utcOffset({ year, month, day, hour, minute, second }: ICAL.Time): number {
    const local = Date.UTC(year, month - 1, day, hour, minute, second);
    // A time that comes twice is the first one, and one that the clocks skip is counted by the offset before.
    const before = this.#offsetAt(local - 86_400_000);
    const offset = this.#offsetAt(local - before * 1_000);
    return this.#offsetAt(local - offset * 1_000) === offset ? offset : before;
  }

  #offsetAt(at: number): number {
    const name = this.#format.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "";
    const [, sign = "+", hours = "0", minutes = "0"] = /^GMT(?:([+-])(\d{2}):(\d{2}))?/.exec(name) ?? [];
    return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60;
  }
}

/** Returns the IANA name of a zone of Windows, or of one behind a prefix such as `/mozilla.org/20050126_1/`. */
function nameOf(said: string): string | undefined {
  const parts = said.split("/").filter((part) => part !== "");
  const names = [parts, parts.slice(-3), parts.slice(-2), parts.slice(-1)].map((some) => some.join("/"));
  // Exchange counts the definitions of a zone, Notes leaves out the end of the names, and others write `US-Eastern`.
  const windows = said.toLowerCase().replace(" and canada", " & canada").replace(/ \d$/, "");
  return (
    windowsZones.get(windows) ??
    windowsZones.get(`${windows} standard time`) ??
    [...names, said.replace("-", "/")].find(isKnown)
  );
}

const areas = ["Europe", "America", "Asia", "Africa", "Australia", "Pacific", "Atlantic", "America/Argentina"];

/**
 * Returns the IANA name of a zone that Outlook shows as `(UTC+01:00) Amsterdam, Berlin, Rome`, in any language. The
 * offset is that of standard time. The cities that have it must have the same time all year. Some programs write the
 * cities alone: then all that are known must, and there must be two.
 */
function nameOfPlaces(said: string): string | undefined {
  const [prefix, sign = "+", hours = "0", minutes = "0"] =
    /^\((?:UTC|GMT) ?(?:([+-])(\d\d?)[:.]?(\d\d)?)?\) ?/i.exec(said) ?? [];
  const places = said.slice(prefix?.length ?? 0);
  const known = nameOf(places);
  if (known !== undefined || places === "") return known;
  const offset = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60;
  const found = places
    .split(/[,;:/()]/)
    .map((place) => place.trim().replaceAll(" ", "_"))
    .flatMap((city) => areas.map((area) => `${area}/${city}`))
    .filter(isKnown)
    .map((name) => ({ name, offsets: [1, 7].map((month) => offsetIn(name, month)) }))
    .filter(({ offsets }) => prefix === undefined || Math.min(...offsets) === offset);
  if (prefix === undefined && found.length < 2) return undefined;
  return new Set(found.map(({ offsets }) => String(offsets))).size === 1 ? found[0]?.name : undefined;
}

function offsetIn(name: string, month: number): number {
  const year = new Date().getUTCFullYear();
  return new NamedZone(name, name).utcOffset(new ICAL.Time({ year, month, day: 1 }, ICAL.Timezone.utcTimezone));
}

/** Returns whether the IANA database has a time zone of this name. */
export function isKnown(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat("en-US", { timeZone });
    return true;
  } catch {
    return false;
  }
}
