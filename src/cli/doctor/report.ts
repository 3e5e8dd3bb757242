// Shows the findings to a user: a line for each under the heading of its group, and a summary at the end.
import type { Output, Style } from "../output.ts";
import type { Finding, Status } from "./check.ts";

const headings: Readonly<Record<string, string>> = {
  configuration: "Configuration",
  mongodb: "MongoDB",
  redis: "Redis",
  clock: "Clocks",
  certificates: "Certificates",
  provider: "Identity provider",
  service: "Service",
  mcp: "Sign-in of assistants (MCP)",
};
const marks: Readonly<Record<Status, readonly [text: string, style: Style]>> = {
  ok: ["ok", "green"],
  note: ["note", "cyan"],
  warning: ["warning", "yellow"],
  fault: ["FAULT", "red"],
};

/**
 * Returns the lines of the report. Each problem is followed by its solution. Without `verbose`, hides passed checks.
 * Also hides notes if the service runs; otherwise a note reports that it does not run.
 */
export function report(findings: readonly Finding[], paint: Output["paint"], verbose: boolean): string[] {
  const isRunning = !findings.some(({ check, status }) => check === "service.running" && status !== "ok");
  const hidden: readonly Status[] = verbose ? [] : isRunning ? ["ok", "note"] : ["ok"];
  const shown = findings.filter(({ status }) => !hidden.includes(status));
  const hint = verbose ? "" : " --verbose shows every check.";
  if (shown.length === 0) return [`${summary(findings)}${hint}`];
  const width = Math.max(...shown.map(({ check }) => partsOf(check).name.length));
  const lines: string[] = [];
  let last: string | undefined;
  for (const { check, status, message, fix } of shown) {
    const { group, name } = partsOf(check);
    if (group !== last) lines.push(...(last === undefined ? [] : [""]), paint("bold", headings[group] ?? group));
    last = group;
    const [text, style] = marks[status];
    lines.push(
      `  ${paint(style, text.padEnd(7))}  ${name.padEnd(width)}  ${message}${fix === null ? "" : ` ${paint("bold", "→")} ${fix}`}`,
    );
  }
  return [...lines, "", `${summary(findings)}${hint}`];
}

function summary(findings: readonly Finding[]): string {
  const count = (status: Status, one: string, more: string): string[] => {
    const number = findings.filter((finding) => finding.status === status).length;
    return number === 0 ? [] : [`${number} ${number === 1 ? one : more}`];
  };
  const counts = [
    ...count("fault", "fault", "faults"),
    ...count("warning", "warning", "warnings"),
    ...count("note", "note", "notes"),
  ];
  const isWell = findings.every(({ status }) => status === "ok" || status === "note");
  return `${findings.length} checks: ${[...(isWell ? ["nothing is wrong"] : []), ...counts].join(", ")}.`;
}

function partsOf(check: string): { readonly group: string; readonly name: string } {
  const [group = "", name = ""] = check.split(".");
  return { group, name };
}
