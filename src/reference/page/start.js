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
    // Keeps the order of the document, in which it explains the fields.
    orderSchemaPropertiesBy: "preserve",
    orderRequiredPropertiesFirst: false,
    defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
    metaData: { title: document.title },
  });
}

function complain() {
  const notice = document.getElementById("not-started");
  if (notice !== null) notice.hidden = false;
}
