// Shows the findings to a person: a line for each, under the heading of its group, and their number at the end.
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

/** The lines; a mend follows what is wrong. */
export function report(findings: readonly Finding[], paint: Output["paint"]): string[] {
  const width = Math.max(...findings.map(({ check }) => partsOf(check).name.length));
  const lines: string[] = [];
  let last: string | undefined;
  for (const { check, status, message, mend } of findings) {
    const { group, name } = partsOf(check);
    if (group !== last) lines.push(...(last === undefined ? [] : [""]), paint("bold", headings[group] ?? group));
    last = group;
    const [text, style] = marks[status];
    lines.push(
      `  ${paint(style, text.padEnd(7))}  ${name.padEnd(width)}  ${message}${mend === null ? "" : ` ${paint("bold", "→")} ${mend}`}`,
    );
  }
  return [...lines, "", summary(findings)];
}

function summary(findings: readonly Finding[]): string {
  const count = (status: Status, one: string, more: string): string[] => {
    const number = findings.filter((finding) => finding.status === status).length;
    return number === 0 ? [] : [`${number} ${number === 1 ? one : more}`];
  };
  const told = [
    ...count("fault", "fault", "faults"),
    ...count("warning", "warning", "warnings"),
    ...count("note", "note", "notes"),
  ];
  return `${findings.length} checks: ${told.length === 0 ? "all is well" : told.join(", ")}.`;
}

function partsOf(check: string): { readonly group: string; readonly name: string } {
  const [group = "", name = ""] = check.split(".");
  return { group, name };
}
