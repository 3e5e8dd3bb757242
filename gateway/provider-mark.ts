// What the plugin and the gateway agree on about the OpenAPI document.

/** The mark that the plugin leaves on a property whose name contains the provider's, which only the gateway knows. */
export const providerMark = "x-provider-name";
