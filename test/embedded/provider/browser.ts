// A browser without scripts: follows redirects, keeps cookies for each host and port, fills in and sends forms.

/** What the browser shows. */
export interface Page {
  readonly url: URL;
  /** Undefined for an address outside, which is told and not visited. */
  readonly status: number | undefined;
  readonly headers: Headers;
  readonly text: string;
}

export interface Browser {
  open(url: string | URL): Promise<Page>;
  /** Fills in the page's first form and presses its button with this text, or its first one. */
  submit(page: Page, fields?: Record<string, string>, button?: string): Promise<Page>;
  /** The cookies that a request to the address would carry. */
  cookiesFor(url: string | URL): string;
}

/** The page's first form. */
export interface Form {
  readonly method: string;
  readonly action: URL;
  readonly fields: Record<string, string>;
  readonly buttons: readonly { readonly text: string; readonly name: string | undefined; readonly value: string }[];
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

const MOST_REDIRECTS = 20;

/** A browser with no cookies yet. Addresses that begin with one of `outside` are told and not visited. */
export function createBrowser(outside: readonly string[] = []): Browser {
  const jars = new Map<string, Cookie[]>();

  const cookiesFor = (address: string | URL): string => {
    const url = new URL(address);
    const jar = jars.get(url.host) ?? [];
    return jar
      .filter(({ path }) => covers(path, url.pathname))
      .map(({ name, value }) => `${name}=${value}`)
      .join("; ");
  };

  const keep = (url: URL, headers: Headers): void => {
    for (const line of headers.getSetCookie()) {
      const [pair = "", ...attributes] = line.split(/;\s*/);
      const [name = "", value = ""] = splitOnce(pair, "=");
      const told = new Map(
        attributes.map((attribute) =>
          splitOnce(
            attribute.replace(/^[^=]+/, (key) => key.toLowerCase()),
            "=",
          ),
        ),
      );
      const path = told.get("path") ?? "/";
      const over =
        told.get("max-age") === "0" || (told.has("expires") && Date.parse(told.get("expires") ?? "") <= Date.now());
      const others = (jars.get(url.host) ?? []).filter((cookie) => cookie.name !== name || cookie.path !== path);
      jars.set(url.host, over ? others : [...others, { name, value, path }]);
    }
  };

  const visit = async (address: URL, form?: URLSearchParams): Promise<Page> => {
    let url = address;
    let body = form;
    for (let hops = 0; hops <= MOST_REDIRECTS; hops++) {
      if (outside.some((prefix) => url.href.startsWith(prefix)))
        return { url, status: undefined, headers: new Headers(), text: "" };
      const response = await fetch(url, {
        method: body === undefined ? "GET" : "POST",
        redirect: "manual",
        headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8", cookie: cookiesFor(url) },
        ...(body === undefined ? {} : { body }),
      });
      keep(url, response.headers);
      const location = response.headers.get("location");
      if (response.status < 300 || response.status > 399 || location === null) {
        return { url, status: response.status, headers: response.headers, text: await response.text() };
      }
      await response.arrayBuffer();
      url = new URL(location, url);
      if (response.status < 307) body = undefined;
    }
    throw new Error(`more than ${MOST_REDIRECTS} redirects, at last to ${url.href}`);
  };

  return {
    open: (url) => visit(new URL(url)),
    submit(page, fields = {}, button) {
      const form = formOf(page);
      const pressed = button === undefined ? form.buttons[0] : form.buttons.find(({ text }) => text === button);
      if (button !== undefined && pressed === undefined) throw new Error(`no button ${button} at ${page.url.href}`);
      for (const name of Object.keys(fields)) {
        if (!(name in form.fields)) throw new Error(`no input ${name} at ${page.url.href}`);
      }
      const body = new URLSearchParams({ ...form.fields, ...fields });
      if (pressed?.name !== undefined) body.append(pressed.name, pressed.value);
      if (form.method === "post") return visit(form.action, body);
      form.action.search = body.toString();
      return visit(form.action);
    },
    cookiesFor,
  };
}

export function formOf({ text, url }: Page): Form {
  const [, opening, content] = /<form\b([^>]*)>([\s\S]*?)<\/form>/i.exec(text) ?? [];
  if (opening === undefined || content === undefined) throw new Error(`no form at ${url.href}:\n${text}`);
  const tags = (pattern: RegExp): [attributes: Record<string, string>, content: string][] =>
    [...content.matchAll(pattern)].map(([, inside = "", within = ""]) => [attributesOf(inside), plain(within)]);
  const attributes = attributesOf(opening);
  return {
    method: (attributes["method"] ?? "get").toLowerCase(),
    action: new URL(attributes["action"] ?? url.href, url),
    fields: Object.fromEntries(tags(/<input\b([^>]*)>/gi).map(([{ name = "", value = "" }]) => [name, value])),
    buttons: tags(/<button\b([^>]*)>([\s\S]*?)<\/button>/gi).map(([{ name, value = "" }, within]) => ({
      text: within,
      name,
      value,
    })),
  };
}

/** The text that a person sees. */
export function textOf({ text }: Page): string {
  return plain(
    text.replace(/<(style|script)\b[\s\S]*?<\/\1>/gi, "").replace(/<\/(p|h1|dd|dt|label|header|button)>/gi, "\n"),
  );
}

function attributesOf(tag: string): Record<string, string> {
  return Object.fromEntries(
    [...tag.matchAll(/([a-z-]+)(?:="([^"]*)")?/gi)].map(([, name = "", value = ""]) => [
      name.toLowerCase(),
      unescaped(value),
    ]),
  );
}

function plain(html: string): string {
  return unescaped(html.replace(/<[^>]*>/g, ""))
    .replace(/[ \t]*\n\s*/g, "\n")
    .trim();
}

function unescaped(html: string): string {
  return html
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, "&");
}

function covers(path: string, pathname: string): boolean {
  return pathname === path || pathname.startsWith(path.endsWith("/") ? path : `${path}/`);
}

function splitOnce(text: string, by: string): [string, string] {
  const at = text.indexOf(by);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
