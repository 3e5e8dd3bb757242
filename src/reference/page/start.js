// Starts the renderer on the page of the API reference, so that it requests nothing from another host and keeps no key.

/** @typedef {{ createApiReference(place: Element, configuration: object): unknown }} Renderer */

// The renderer tries whether it may make code of text. The page's policy says no, and would report each try as a
// breach.
window.Function = new Proxy(Function, {
  construct() {
    throw new EvalError("this page makes no code of text");
  },
});

// The renderer is the script after this one.
document.addEventListener("DOMContentLoaded", start);

function start() {
  const place = /** @type {HTMLElement} */ (document.getElementById("reference"));
  const renderer = /** @type {{ Scalar?: Renderer }} */ (/** @type {unknown} */ (window)).Scalar;
  const here = new URL(".", location.href).href.replace(/\/$/, "");
  const baseUrl = place.dataset["baseUrl"] ?? here;
  if (renderer === undefined) return complain();
  renderer.createApiReference(place, {
    url: `${here}/openapi.json`,
    // The page may call nothing but where it came from: under another name of the service, that name goes first.
    ...(baseUrl !== here && {
      servers: [
        { url: here, description: "Where this page is" },
        { url: baseUrl, description: "The service’s own name" },
      ],
    }),
    authentication: { preferredSecurityScheme: "apiKey" },
    persistAuth: false,
    // All of what would lead to the renderer's maker, or be fetched from there.
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: "never",
    // The header has the links to the documents.
    documentDownloadType: "none",
    defaultOpenAllTags: true,
    // Fields are in the order in which the document explains them.
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
