// Shows instants as relative times or dates, with the exact time in UTC as a tooltip.
import { make } from "./elements.js";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const ago = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const date = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

/** @param {string} instant in the format of the service */
export function timeOf(instant) {
  return make("time", { datetime: instant, title: exactly(instant) }, [roughly(instant)]);
}

/** @param {string} instant */
export function exactly(instant) {
  const at = new Date(instant);
  return Number.isNaN(at.getTime()) ? instant : `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** Keeps the relative times up to date while the page is open. */
export function startClock() {
  setInterval(() => {
    for (const time of document.querySelectorAll("time")) {
      const text = roughly(time.dateTime);
      if (time.textContent !== text) time.textContent = text;
    }
  }, minute / 2);
}

/** @param {string} instant */
function roughly(instant) {
  const at = new Date(instant).getTime();
  if (Number.isNaN(at)) return instant;
  // The clocks of two machines can differ a little.
  const past = Math.max(0, Date.now() - at);
  if (past < minute) return "just now";
  if (past < hour) return ago.format(-Math.floor(past / minute), "minute");
  if (past < day) return ago.format(-Math.floor(past / hour), "hour");
  if (past < 7 * day) return ago.format(-Math.floor(past / day), "day");
  return date.format(at);
}
