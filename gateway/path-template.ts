// Parser of path templates such as /v1/contacts/{contact_id}/notes, for the plugin that checks them and the router that
// matches them.

/** A segment of a path: literal text, or a parameter that matches any one non-empty segment. */
export type Segment = { readonly literal: string } | { readonly parameter: string };

const literalForm = /^[A-Za-z0-9._~-]+$/;
const parameterForm = /^\{([a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*)\}$/;

/**
 * Parses a template: `/` before every segment, which is literal text or `{field}` (`{field.field}` in a Location).
 * Throws an Error that describes the problem. Rejects wildcards and verbs of google.api.http.
 */
export function parseTemplate(template: string): readonly Segment[] {
  if (!template.startsWith("/")) throw new Error(`the path "${template}" must begin with "/"`);
  const parameters = new Set<string>();
  return template
    .slice(1)
    .split("/")
    .map((text) => {
      const parameter = parameterForm.exec(text)?.[1];
      if (parameter === undefined) {
        if (!literalForm.test(text))
          throw new Error(`the path "${template}" has a segment "${text}" that is neither text nor {field}`);
        return { literal: text };
      }
      if (parameters.has(parameter)) throw new Error(`the path "${template}" has {${parameter}} twice`);
      parameters.add(parameter);
      return { parameter };
    });
}

/** Returns the template without the names of its parameters. Templates of the same shape match the same paths. */
export function templateShape(segments: readonly Segment[]): string {
  return segments.map((segment) => ("literal" in segment ? `/${segment.literal}` : "/{}")).join("");
}
