// `npx tsx test/exercises/add-an-endpoint.ts`: adds an endpoint that copies a contact, in a scratch copy, and counts
// the files it takes.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Program } from "../fixtures/service/program.ts";
import { createScratch, expect } from "./scratch.ts";

const scratch = createScratch();
const { change, run } = scratch;

const proto = "proto/records/v1/contacts.proto";
const service = "src/contacts/service.ts";
const store = "src/contacts/store.ts";
const endpoints = "test/fixtures/clients/wires.ts";
const programFile = join(scratch.folder, "test/fixtures/service/program.ts");

/**
 * The test files that count operations: those that take their lists from the descriptors, and those that state them.
 */
const countingFiles = [
  ...["operations", "isolation", "isolation-by-field", "keys", "rejections", "form", "internal"].map(
    (name) => `test/cases/${name}.test.ts`,
  ),
  ...["agreement", "openapi", "router", "tools", "writers"].map((name) => `test/gateway/${name}.test.ts`),
  ...[
    "idempotency/every-write",
    "guards/order",
    "guards/paused-writes",
    "guards/switches-everywhere",
    "guards/throttled-responses",
  ].map((name) => `test/${name}.test.ts`),
  ...[
    "mcp/oauth/read-only",
    "mcp/oauth/read-only-stores",
    "mcp/tools/tools",
    "reference/llms",
    "reference/reference",
    "docs/names",
  ].map((name) => `test/${name}.test.ts`),
  ...["client/types", "ingest/any-message", "cost/every-operation"].map((name) => `test/${name}.test.ts`),
];

/** What a user writes: the rpc with its route and its messages, … */
const rpc = `
  // Copy a contact under another name.
  //
  // Returns the whole new contact, without an email. Fails with 404 when the account has no such contact, and with 409
  // when the idempotency key was used with another request.
  rpc CopyContact(CopyContactRequest) returns (CopyContactResponse) {
    option (google.api.http) = {
      post: "/v1/contacts/{contact_id}/copies"
      body: "*"
      response_body: "contact"
    };
    option (records.v1.method) = {
      max_message_bytes: 262144
      idempotency_key: true
      success_status: 201
      location: "/v1/contacts/{contact.id}"
      errors: [
        REASON_MISSING_KEY,
        REASON_INVALID_KEY,
        REASON_ACCESS_DENIED,
        REASON_NOT_FOUND,
        REASON_IDEMPOTENCY_KEY_REUSED,
        REASON_INVALID_REQUEST,
        REASON_RATE_LIMITED,
        REASON_WRITES_PAUSED
      ]
    };
  }
`;
const messages = `
// What CopyContact takes.
message CopyContactRequest {
  // The id of the contact.
  string contact_id = 1 [
    (buf.validate.field).required = true,
    (buf.validate.field).string.uuid = true,
    (records.v1.field).example = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
  ];
  // The name of the copy.
  string full_name = 2 [
    (buf.validate.field).required = true,
    (buf.validate.field).string.min_len = 1,
    (buf.validate.field).string.max_len = 200,
    (records.v1.field).example = "Ann Lee"
  ];
}

// The response of CopyContact.
message CopyContactResponse {
  // The copy.
  Contact contact = 1 [(buf.validate.field).required = true];
}
`;

/** … the method of the service, … */
const method = `    copyContact({ contactId, fullName, ...rest }, scope) {
      requireAllRead(rest);
      return contacts.copy(scope, uuid(contactId), fullName);
    },
`;

/** … and the one of the store with its promise. */
const promise = `  /** Creates a contact with the phone of this one. Fails with NOT_FOUND. */
  copy(scope: WriteScope, id: UUID, full_name: string): Promise<CopyContactResponse>;
`;
const implementation = `    async copy(scope, id, full_name) {
      const { phone } = (await contactRows(contacts, scope, id))?.document ?? fail(Reason.NOT_FOUND);
      const document = newContact(scope.accountId, { full_name, phone });
      const response: CopyContactResponse = {
        $typeName: "records.v1.CopyContactResponse",
        contact: contactMessage(document, [], []),
      };
      await writes.insert(scope, document, { message: response, records: [document._id] });
      return response;
    },

`;

try {
  change(proto, (text) => text.replace(/(service ContactService \{[^]*?)(\n\}\n)/, `$1${rpc.trimEnd()}$2${messages}`));
  expect("the generator runs", run("npx", "tsx", "scripts/generate.ts").status === 0);
  const named = scratch.uncompiled();
  expect(
    `the compiler asks for the service, and the tests for the endpoint: ${named.join(", ")}`,
    named.sort().join() === [endpoints, service].join(),
  );

  change(service, (text) =>
    text
      .replace('"appendContactNote">', '"appendContactNote" | "copyContact">')
      .replace("    appendContactNote(", `${method}    appendContactNote(`),
  );
  const rest = scratch.uncompiled().filter((file) => file !== endpoints);
  expect(`then for its store: ${rest.join(", ")}`, rest.join() === service);
  change(store, (text) =>
    text
      .replace("import type { Contact, Create", "import type { Contact, CopyContactResponse, Create")
      .replace("  /** Changes a contact. Fails", `${promise}  /** Changes a contact. Fails`)
      .replace("    update(scope, id, changes) {", `${implementation}    update(scope, id, changes) {`),
  );
  run("npx", "biome", "format", "--write", store, service);
  const left = scratch.uncompiled().filter((file) => file !== endpoints);
  expect(`then it compiles: ${left.join(", ")}`, left.length === 0);

  await serves();

  const byHand = scratch.changedByHand();
  console.log(`changed by hand: ${byHand.join(", ")}`);
  expect("no other file", byHand.join() === [proto, service, store].join());
  if (!process.argv.includes("--without-tests")) demands();
} finally {
  scratch.remove();
}

/** Starts the service of the copy and calls the endpoint. */
async function serves(): Promise<void> {
  const { startProgram } = (await import(pathToFileURL(programFile).href)) as {
    startProgram: (dataDir: string, environment: Record<string, string>) => Promise<Program>;
  };
  const program = await startProgram(join(scratch.folder, "data"), {});
  try {
    const { base_url: base, accounts } = program.demo();
    const headers = { Authorization: `Bearer ${accounts[0]?.api_key ?? ""}`, "Content-Type": "application/json" };
    const send = (path: string, body: object, more = {}) =>
      fetch(base + path, { method: "POST", headers: { ...headers, ...more }, body: JSON.stringify(body) });
    const contact = await dataOf(await send("/v1/contacts", { full_name: "Ann", phone: "555 0100" }));

    const path = `/v1/contacts/${String(contact["id"])}/copies`;
    const key = { "Idempotency-Key": "once" };
    const made = await send(path, { full_name: "Bo" }, key);
    const data = await dataOf(made);
    expect(
      `REST creates it: ${made.status} ${made.headers.get("location")}`,
      made.status === 201 && data["full_name"] === "Bo" && data["phone"] === "555 0100" && data["id"] !== contact["id"],
    );
    const again = await send(path, { full_name: "Bo" }, key);
    expect("and repeats the response to its idempotency key", (await dataOf(again))["id"] === data["id"]);
    expect("validates it", (await send(path, { full_name: "" })).status === 422);
    const rpcPath = "/records.v1.ContactService/CopyContact";
    const called = await send(rpcPath, { contact_id: contact["id"], full_name: "Cy" });
    const { contact: third } = (await called.json()) as { contact?: { fullName?: string } };
    expect("Connect creates it", called.status === 200 && third?.fullName === "Cy");
    expect("without a key it is 401", (await send(path, { full_name: "Bo" }, { Authorization: "" })).status === 401);
    const openapi = (await (await fetch(`${base}/openapi.json`)).json()) as { paths: Record<string, object> };
    expect("OpenAPI shows it", "post" in (openapi.paths["/v1/contacts/{contact_id}/copies"] ?? {}));
  } finally {
    await program.end("SIGTERM");
  }
}

/** What a response over REST holds; nothing where it is a failure. */
async function dataOf(response: Response): Promise<Readonly<Record<string, unknown>>> {
  return ((await response.json()) as { data?: Readonly<Record<string, unknown>> }).data ?? {};
}

/** Runs the checks and the tests that know every operation, and names the test files that demand something of it. */
function demands(): void {
  const lint = run("node_modules/.bin/buf", "lint");
  expect(`the protos keep the rules${lint.stdout}`, lint.status === 0);
  const report = join(scratch.folder, "report.json");
  run("npx", "vitest", "run", "--reporter=json", `--outputFile=${report}`, ...countingFiles);
  const { testResults } = JSON.parse(run("cat", report).stdout) as { testResults: { name: string; status: string }[] };
  const failed = testResults.filter(({ status }) => status !== "passed").map(({ name }) => name);
  console.log(`test files that demand something:\n  ${failed.join("\n  ").replaceAll(`${scratch.folder}/`, "")}`);
  expect(
    "the tests demand something of a new write",
    failed.some((name) => name.includes("operations.test.ts")),
  );
}
