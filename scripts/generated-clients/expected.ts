// The output that every generated client's program must print, determined with plain requests.

interface Page {
  readonly data: readonly Readonly<Record<string, string>>[];
  readonly pagination: { readonly next_offset: number | null };
}

/** The report, with the keys that the programs use. */
export async function expectedReport(url: string, key: string): Promise<Readonly<Record<string, unknown>>> {
  const get = async (path: string): Promise<Page> => {
    const response = await fetch(`${url}/v1/${path}`, { headers: { Authorization: `Bearer ${key}` } });
    if (!response.ok) throw new Error(`${path} got ${response.status}`);
    return (await response.json()) as Page;
  };
  const { data: found } = await get("contacts?query=ann");
  const sessions: Page["data"][number][] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const page = await get(`sessions?from=2026-01-31&limit=25&offset=${offset}`);
    sessions.push(...page.data);
    offset = page.pagination.next_offset;
  }
  const notes = await get("notes?query=an&limit=25");
  return {
    found: found.length,
    name: found[0]?.["full_name"],
    created: seconds(found[0]?.["created_at"]),
    phone: "+1 415 555 0199",
    email: null,
    missing: "404",
    invalid: "full_name",
    sessions: sessions.length,
    started: seconds(sessions[0]?.["session_date"]),
    kinds: [...new Set(notes.data.map((note) => note["kind"]))].sort(),
  };
}

function seconds(time: string | undefined): number {
  return Math.floor(Date.parse(time ?? "") / 1000);
}
