// /postman.json: a collection whose every request works as it is, once its variables are set.
import { expect, test } from "vitest";
import { newClient, useService } from "../support/client.ts";
import { randomId } from "../fixtures/service/service.ts";

const service = useService();

interface Entry {
  readonly key: string;
  readonly value: string;
  readonly disabled?: boolean;
}
interface Request {
  readonly method: string;
  readonly header: readonly Entry[];
  readonly auth?: { readonly type: string };
  readonly url: { readonly raw: string; readonly path: readonly string[]; readonly query: readonly Entry[] };
  readonly body?: { readonly raw: string };
}
interface Collection {
  readonly info: { readonly schema: string };
  readonly variable: readonly Entry[];
  readonly auth: { readonly bearer: readonly Entry[] };
  readonly item: readonly { readonly item: readonly { readonly name: string; readonly request: Request }[] }[];
}

test("every request of the Postman collection succeeds with its own values in the demo, by its address and by its parts", async () => {
  const client = await newClient(service());
  const { headers: sent, body: received } = await service().rest("/postman.json");
  expect(sent.get("Content-Type")).toBe("application/json; charset=utf-8");
  const collection = received as Collection;
  expect(collection.info.schema).toContain("/v2.1.0/");
  const sessionId = randomId();
  await client.put.session({ id: sessionId });
  await client.put.contact({ full_name: "Ann Lee", email: "ann.lee@example.com" });
  const values: Record<string, string> = { baseUrl: service().base, apiKey: client.key, session_id: sessionId };
  expect(collection.variable.map((one) => one.key).sort()).toEqual(["apiKey", "baseUrl", "contact_id", "session_id"]);
  const filled = (text: string): string =>
    text.replace(/\{\{([$\w]+)\}\}/g, (_, name: string) => values[name] ?? (name === "$guid" ? randomId() : ""));
  const requests = collection.item.flatMap(({ item }) => item);
  expect(requests.length).toBe(10);
  for (const { name, request } of requests) {
    const { method, header, auth, url, body } = request;
    const search = url.query.filter(({ disabled }) => !disabled).map((one): [string, string] => [one.key, one.value]);
    const headers = new Headers(header.map((one) => [one.key, filled(one.value)]));
    if (auth === undefined) headers.set("Authorization", `Bearer ${filled(collection.auth.bearer[0]?.value ?? "")}`);
    const query = search.length === 0 ? "" : `?${new URLSearchParams(search).toString()}`;
    expect(url.raw).toBe(`{{baseUrl}}/${url.path.join("/")}${query}`);
    const response = await fetch(filled(url.raw), { method, headers, ...(body && { body: body.raw }) });
    expect([name, Math.floor(response.status / 100)]).toEqual([name, 2]);
    const { data } = (await response.json()) as { data: { id?: string } };
    // As a user does, who reads and changes the contact that was created.
    if (method === "POST" && data.id !== undefined) values["contact_id"] ??= data.id;
  }
});
