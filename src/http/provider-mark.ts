// The keyword in the OpenAPI document by which the plugin and the gateway communicate.

/** Marks a property whose name contains the document provider's, which only the gateway knows. */
export const providerMark = "x-provider-name";
