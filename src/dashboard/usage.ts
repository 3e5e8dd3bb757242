// The usage of an account: today's requests, those of the last 30 days as bars and as a table, the newest ones, and
// the limits.
import type { AccountUsage, DayOfUse, RecentRequest } from "../accounts/usage.ts";
import type { Html } from "../text/html.ts";
import { html, lines } from "../text/html.ts";

/** The requests of an account, and the limits on them. */
export interface UsageView {
  /** Undefined if they cannot be read. */
  readonly used: AccountUsage | undefined;
  /** Requests per second. */
  readonly rate: number;
  /** Requests at once. */
  readonly burst: number;
}

/** Returns the content of the section. */
export function usage({ used, rate, burst }: UsageView): Html {
  const limits = fact("Limits", `${number(rate)} a second`, `${number(burst)} at once`);
  if (used === undefined)
    return html`<p>The number of requests can’t be shown now. Reload the page to try again.</p>
<dl class="facts">${limits}</dl>`;
  const { days, requests } = used;
  const all = sumOf(days);
  const facts = html`<dl class="facts">
${fact("Today", ...counted(days.at(-1) ?? all))}
${fact(`Last ${days.length} days`, ...counted(all))}
${limits}
</dl>`;
  if (all.requests === 0)
    return html`${facts}
<p class="quiet">No requests in the last ${String(days.length)} days. They appear here a few seconds after a script or an assistant sends them.</p>`;
  return html`${facts}
${bars(days, all.rejected > 0)}
<details class="numbers"><summary>Requests of each day</summary>
<table>
<thead><tr><th scope="col">Day (UTC)</th><th scope="col">Requests</th><th scope="col">Rejected with 429</th></tr></thead>
<tbody>
${lines(
  days
    .filter(({ requests }) => requests > 0)
    .map(tableRow)
    .reverse(),
)}
</tbody>
</table>
</details>
${requests.length === 0 ? undefined : newestRequests(requests)}`;
}

/** A template of a path, and not the path, so that no query is shown. */
function newestRequests(recent: readonly RecentRequest[]): Html {
  return html`<details class="numbers requests"><summary>Last ${number(recent.length)} requests</summary>
<p class="small">Newest first, some seconds late. Of those rejected with 429, most are only counted above.</p>
<table>
<thead><tr><th scope="col">Time (UTC)</th><th scope="col">Request</th><th scope="col">Status</th><th scope="col">Took</th><th scope="col">Request id</th></tr></thead>
<tbody>
${lines(recent.map(requestRow))}
</tbody>
</table>
</details>`;
}

function requestRow({ id, at, method, route, status, ms }: RecentRequest): Html {
  return html`<tr><th scope="row">${times.format(at)}</th><td>${method} ${route === "-" ? "(unknown path)" : route}</td><td${status < 400 ? undefined : failed}>${String(status)}</td><td>${number(ms)} ms</td><td><code>${id}</code></td></tr>`;
}

const failed = html` class="failed"`;

type Counts = Pick<DayOfUse, "requests" | "rejected">;

function sumOf(days: readonly Counts[]): Counts {
  const sum = (field: keyof Counts) => days.reduce((total, day) => total + day[field], 0);
  return { requests: sum("requests"), rejected: sum("rejected") };
}

function fact(name: string, value: string, more?: string): Html {
  return html`<div><dt>${name}</dt><dd>${value}</dd>${more === undefined ? undefined : html`<dd class="small">${more}</dd>`}</div>`;
}

function counted({ requests, rejected }: Counts): [requests: string, rejected?: string] {
  const all = `${number(requests)} ${requests === 1 ? "request" : "requests"}`;
  return rejected === 0 ? [all] : [all, `${number(rejected)} rejected with 429`];
}

/** In units of the drawing, which is stretched to the width of the page. */
const [height, slot, barWidth] = [100, 10, 7];

function bars(days: readonly DayOfUse[], hasRejected: boolean): Html {
  const most = Math.max(...days.map(({ requests }) => requests));
  const first = days[0] === undefined ? "" : dateOf(days[0]);
  return html`<figure class="usage">
<p class="small" aria-hidden="true">${number(most)}</p>
<svg viewBox="0 0 ${String(days.length * slot)} ${String(height)}" preserveAspectRatio="none" role="img" aria-label="Requests of each day since ${first}, at most ${number(most)}. The table below has the numbers.">
${lines(days.map((day, at) => bar(day, at, most)))}
</svg>
<figcaption class="small" aria-hidden="true"><span>${first}</span>${hasRejected ? html`<span class="legend">Rejected with 429</span>` : undefined}<span>Today</span></figcaption>
</figure>`;
}

function bar(day: DayOfUse, at: number, most: number): Html {
  const { requests, rejected } = day;
  // A single request among thousands is visible, too.
  const top = requests === 0 ? 0 : Math.max(1, (requests / most) * height);
  const red = rejected === 0 ? 0 : Math.max(1, (rejected / most) * height);
  const rect = (name: string, from: number, size: number): Html =>
    html`<rect class="${name}" x="${String(at * slot + (slot - barWidth) / 2)}" y="${(height - from).toFixed(2)}" width="${String(barWidth)}" height="${size.toFixed(2)}"/>`;
  return html`<g><title>${dateOf(day)}: ${counted(day).join(", ")}</title>${rect("slot", height, height)}${rect("served", top, top)}${red === 0 ? undefined : rect("rejected", top, red)}</g>`;
}

function tableRow(day: DayOfUse): Html {
  return html`<tr><th scope="row">${dateOf(day)}</th><td>${number(day.requests)}</td><td>${number(day.rejected)}</td></tr>`;
}

const numbers = new Intl.NumberFormat("en");
const times = new Intl.DateTimeFormat("en-GB", {
  ...({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" } as const),
  timeZone: "UTC",
});
const dates = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

function number(value: number): string {
  return numbers.format(value);
}

function dateOf({ day }: DayOfUse): string {
  return dates.format(day);
}
