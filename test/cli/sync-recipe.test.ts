// The recipes of docs/sync.md for cron, systemd and Kubernetes run, and their result is the one that the page shows.
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { parse } from "yaml";
import { readPage, root } from "../docs/pages.ts";
import { newClient, useService } from "../support/client.ts";
import { useFolder } from "./cli.ts";

vi.setConfig({ testTimeout: 180_000 });

const service = useService();
const folder = useFolder();
const { blocks } = readPage("docs/sync.md");
const texts = blocks.filter(({ language }) => language === "text").map(({ text }) => text);

interface CronJob {
  readonly spec: {
    readonly jobTemplate: {
      readonly spec: {
        readonly template: { readonly spec: { readonly containers: { readonly command: string[] }[] } };
      };
    };
  };
}

function recipes(): readonly (readonly [name: string, command: string])[] {
  const cron = texts.find((text) => text.startsWith("15 2 ")) ?? "";
  const unit = texts.find((text) => text.includes("ExecStart=")) ?? "";
  const setting = (name: string): string => new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1] ?? "";
  const job = parse(blocks.find(({ language }) => language === "yaml")?.text ?? "") as CronJob;
  const [container] = job.spec.jobTemplate.spec.template.spec.containers;
  return [
    ["cron", cron.replace(/^(?:\S+ ){5}/, "")],
    ["systemd", `cd ${setting("WorkingDirectory")} && ${setting("Environment")} ${setting("ExecStart")}`],
    ["Kubernetes", `cd /opt/records && SERVICE_TOKENS_FILE=/etc/records/token ${container?.command.join(" ") ?? ""}`],
  ];
}

function run(command: string): Promise<{ readonly code: number; readonly output: string }> {
  const env = { PATH: process.env["PATH"], RECORDS_INTERNAL_URL: service().internal };
  return new Promise((done) =>
    execFile("bash", ["-c", command], { env }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    ),
  );
}

test.each(["cron", "systemd", "Kubernetes"])(
  "the recipe for %s keeps an account in step, shows rejected records, and exits with 2 for a truncated file [OPS-04]",
  async (name) => {
    const { id } = await newClient(service());
    const token = folder.write("token", service().serviceToken);
    const rows = ["crm-1,Ada King", "crm-2,Noor Haddad", "crm-3,Bo Lee", ""];
    const file = folder.write("people.csv", `external_id,full_name\n${rows.join("\n")}`);
    const command = (new Map(recipes()).get(name) ?? "")
      .replaceAll("/opt/records", root)
      .replaceAll("/etc/records/token", token)
      .replaceAll("/srv/crm", folder.path("."))
      .replaceAll("crm@example.com", id);
    expect(command).toContain("--sync --archive-missing");
    const first = await run(command);
    expect(first.code, first.output).toBe(0);
    if (name === "cron") {
      expect(first.output.split("\n").filter((line) => line.startsWith("{"))).toEqual([]);
      expect(JSON.parse(readFileSync(folder.path("result.json"), "utf8"))).toMatchObject({
        done: true,
        contact_changes: { created: 3 },
      });
    }
    writeFileSync(file, `external_id,full_name\n${rows.join("\n")},No Id\n`);
    const rejected = await run(command);
    expect([rejected.code, rejected.output]).toEqual([4, expect.stringContaining("could not find")]);
    writeFileSync(file, "external_id,full_name\ncrm-1,Ada King\n");
    const cut = await run(command);
    expect([cut.code, cut.output]).toEqual([2, expect.stringContaining("lacks 2 of the 3 contacts")]);
  },
);
