// The guide's browser script: search, tabs, copy buttons, and the menu in narrow windows.

/** @typedef {readonly [page: string, heading: string, path: string, text: string]} Entry */

const maxFound = 12;

for (const group of document.querySelectorAll(".tabs")) makeTabs(/** @type {HTMLElement} */ (group));
for (const block of document.querySelectorAll(".code")) addCopy(/** @type {HTMLElement} */ (block));
startSearch();
const menu = document.querySelector(".guide-menu");
if (menu instanceof HTMLDetailsElement && matchMedia("(max-width: 56rem)").matches) menu.open = false;

/** @param {HTMLElement} group */
function makeTabs(group) {
  const panels = /** @type {HTMLElement[]} */ ([...group.querySelectorAll(":scope > .tab")]);
  const list = document.createElement("div");
  list.className = "tab-list";
  list.setAttribute("role", "tablist");
  const buttons = panels.map((panel, at) => {
    const heading = panel.querySelector("h2, h3, h4");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading?.firstChild?.textContent?.trim() ?? "";
    button.id = `tab-${heading?.id ?? at}`;
    button.setAttribute("role", "tab");
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", button.id);
    if (heading instanceof HTMLElement) heading.hidden = true;
    button.addEventListener("click", () => show(at));
    button.addEventListener("keydown", ({ key }) => {
      const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
      if (step !== 0) show((at + step + panels.length) % panels.length, true);
    });
    list.append(button);
    return button;
  });

  /** @param {number} chosen @param {boolean} [focus] */
  function show(chosen, focus = false) {
    for (const [at, button] of buttons.entries()) {
      button.setAttribute("aria-selected", String(at === chosen));
      button.tabIndex = at === chosen ? 0 : -1;
      const panel = panels[at];
      if (panel !== undefined) panel.hidden = at !== chosen;
    }
    if (focus) buttons[chosen]?.focus();
  }

  group.prepend(list);
  const linked = panels.findIndex(
    (panel) => location.hash !== "" && panel.querySelector(`[id="${CSS.escape(location.hash.slice(1))}"]`) !== null,
  );
  show(Math.max(linked, 0));
}

/** @param {HTMLElement} block */
function addCopy(block) {
  const commands = [...block.querySelectorAll(".command")];
  const isConsole = block.dataset["language"] === "console";
  if ((isConsole && commands.length === 0) || /^(json|text)$/.test(block.dataset["language"] ?? "")) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const text = isConsole
      ? commands.map((one) => one.textContent).join("\n")
      : block.querySelector("code")?.textContent;
    await navigator.clipboard.writeText(text ?? "");
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1_500);
  });
  block.append(button);
}

function startSearch() {
  const input = document.getElementById("find");
  const list = document.getElementById("found");
  if (!(input instanceof HTMLInputElement) || list === null) return;
  /** @type {Promise<Entry[]> | undefined} */
  let loading;
  const load = () =>
    (loading ??= fetch(input.dataset["index"] ?? "").then(
      (response) => /** @type {Promise<Entry[]>} */ (response.json()),
    ));
  const panel = input.closest("search, .guide-search");
  if (panel instanceof HTMLElement) panel.hidden = false;
  input.addEventListener("focus", () => void load());
  input.addEventListener("input", async () => {
    const { value } = input;
    const words = wordsOf(value).map(stemOf);
    list.hidden = words.length === 0;
    if (words.length === 0) return;
    const entries = await load();
    // The query may have changed while the index was loading.
    if (input.value === value) showFound(list, entries, words);
  });
  document.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey, target } = event;
    const isTyping = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
    const opens =
      (key === "k" && (ctrlKey || metaKey)) || (key === "/" && !isTyping && !ctrlKey && !metaKey && !altKey);
    if (!opens) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      input.value = "";
      list.hidden = true;
    } else if (event.key === "Enter") list.querySelector("a")?.click();
  });
}

/** @param {HTMLElement} list @param {readonly Entry[]} entries @param {readonly string[]} words */
function showFound(list, entries, words) {
  const found = entries
    .map((entry) => ({ entry, weight: weightOf(entry, words) }))
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .slice(0, maxFound);
  list.replaceChildren(
    ...(found.length === 0
      ? ["Nothing matches. Try fewer or shorter words."]
      : found.map(({ entry }) => linkTo(entry, words))),
  );
}

/**
 * Returns the weight of an entry for a query: 0 unless each word is the prefix of a word in the entry. Matches in
 * headings weigh more, as does the whole query as a phrase, and the beginning of a page comes before its other sections.
 * What changed in a release comes last.
 * @param {Entry} entry
 * @param {readonly string[]} words
 */
function weightOf([page, heading, , text], words) {
  const titles = [...wordsOf(heading), ...wordsOf(page)];
  const body = wordsOf(text);
  let weight = heading === page ? 1 : 0;
  for (const word of words) {
    const inTitle = titles.some((one) => one.startsWith(word));
    if (!inTitle && !body.some((one) => one.startsWith(word))) return 0;
    weight += inTitle ? 10 : 1;
  }
  const isPhrase =
    words.length > 1 && body.some((_, at) => words.every((word, more) => body[at + more]?.startsWith(word)));
  if (isPhrase) weight += 10;
  return page === "Changelog" && heading !== page ? weight / 1_000 : weight;
}

/** @param {Entry} entry @param {readonly string[]} words */
function linkTo([page, heading, path, text], words) {
  const link = document.createElement("a");
  link.href = path;
  const title = document.createElement("strong");
  title.textContent = page === heading ? page : `${page}: ${heading}`;
  const at = Math.max(0, text.toLowerCase().indexOf(words[0] ?? "") - 40);
  const excerpt = document.createElement("span");
  excerpt.textContent = `${at > 0 ? "…" : ""}${text.slice(at, at + 120)}${text.length > at + 120 ? "…" : ""}`;
  link.append(title, excerpt);
  return link;
}

/**
 * Returns a word without the ending of its form, so that "rotate" finds "rotation", and "nightly" finds "night".
 * @param {string} word
 */
function stemOf(word) {
  return word.replace(/(?<=.{4})(?:ations?|ings?|ions?|ies|ed|es|ly|s|e|y)$/, "");
}

/** @param {string} text */
function wordsOf(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}
