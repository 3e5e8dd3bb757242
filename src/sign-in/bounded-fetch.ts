// Fetch with a limit on the response's size, so that a hostile or broken provider cannot exhaust the memory.

const limit = 1_048_576;

/**
 * Fetches like `fetch`, but does not follow redirects. Rejects with a TypeError if the body exceeds 1 MiB. `more`
 * contains headers in addition to those of the options.
 */
export async function boundedFetch(
  url: string,
  options: RequestInit,
  more: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const headers = new Headers(options.headers);
  for (const [name, value] of Object.entries(more)) headers.set(name, value);
  const response = await fetch(url, { redirect: "manual", ...options, headers });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += (chunk as Uint8Array).length;
    if (size > limit) throw new TypeError(`the identity provider sent more than ${limit} bytes`);
    chunks.push(chunk as Uint8Array);
  }
  const bodiless = response.status === 204 || response.status === 304;
  return new Response(bodiless ? null : Buffer.concat(chunks), { status: response.status, headers: response.headers });
}
