// Stand-in until the document is generated.
export function openApiDocument(_options: { baseUrl: string; documentProvider: string; rateLimit: number }): Map<string, { type: string; text: string }> {
  return new Map();
}
