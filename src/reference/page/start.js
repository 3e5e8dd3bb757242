// Starts the renderer on the API reference page, configured to request nothing from other hosts and to store no key.

/** @typedef {{ createApiReference(place: Element, configuration: object): unknown }} Renderer */

// The renderer tests whether it may compile code from strings. The page's policy forbids it, and would report each test
// as a violation.
window.Function = new Proxy(Function, {
  construct() {
    throw new EvalError("this page makes no code of text");
  },
});

// The script of the renderer comes after this one.
document.addEventListener("DOMContentLoaded", start);

function start() {
  const place = /** @type {HTMLElement} */ (document.getElementById("reference"));
  const renderer = /** @type {{ Scalar?: Renderer }} */ (/** @type {unknown} */ (window)).Scalar;
  const here = new URL(".", location.href).href.replace(/\/$/, "");
  const baseUrl = place.dataset["baseUrl"] ?? here;
  if (renderer === undefined) return complain();
  let frame = 0;
  new MutationObserver(() => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => correct(place));
  }).observe(place, { subtree: true, childList: true, attributeFilter: ["aria-selected", "role"] });
  renderer.createApiReference(place, {
    url: `${here}/openapi.json`,
    // The page may send requests only to its own origin. If that is not the public base URL, it is listed first.
    ...(baseUrl !== here && {
      servers: [
        { url: here, description: "Where this page is" },
        { url: baseUrl, description: "The service’s own name" },
      ],
    }),
    authentication: { preferredSecurityScheme: "apiKey" },
    persistAuth: false,
    // Disables everything that links to the renderer's vendor or is fetched from there.
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: "never",
    // The page's header links to the documents.
    documentDownloadType: "none",
    defaultOpenAllTags: true,
    // Each operation shows its own.
    hideModels: true,
    // Keeps the order of the document, in which it explains the fields.
    orderSchemaPropertiesBy: "preserve",
    orderRequiredPropertiesFirst: false,
    defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
    metaData: { title: document.title },
  });
}

/**
 * What assistive technology needs and the renderer leaves out or gets wrong, by selector.
 * @type {readonly (readonly [string, Readonly<Record<string, string>>])[]}
 */
const corrections = [
  ["button[class*=copy-button]", { "aria-label": "Copy" }],
  [".client-libraries__select", { "aria-label": "Other languages" }],
  ["button[role=search]", { role: "button", "aria-label": "Search" }],
  ["aside[role=navigation]", { role: "complementary" }],
  ["ul.endpoints", { tabindex: "0" }],
];

/** @param {HTMLElement} place */
function correct(place) {
  for (const [selector, attributes] of corrections)
    for (const found of place.querySelectorAll(selector))
      for (const [attribute, value] of Object.entries(attributes)) found.setAttribute(attribute, value);
  for (const entry of place.querySelectorAll("[aria-selected]:not([role])")) {
    if (entry.getAttribute("aria-selected") === "true") entry.setAttribute("aria-current", "true");
    else entry.removeAttribute("aria-current");
    entry.removeAttribute("aria-selected");
  }
}

function complain() {
  const notice = document.getElementById("not-started");
  if (notice !== null) notice.hidden = false;
}
