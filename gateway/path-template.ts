// Path templates such as /v1/contacts/{contact_id}/notes: read alike by the plugin that checks them and the router that
// matches.

/** A segment of a path: literal text, or a parameter that takes any one non-empty segment. */
export type Segment = { readonly literal: string } | { readonly parameter: string };

const literalForm = /^[A-Za-z0-9._~-]+$/;
const parameterForm = /^\{([a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*)\}$/;

/**
 * Reads a template: `/` before every segment, each of them literal text or `{field}` (`{field.field}` in a Location).
 * Throws an Error that says what is wrong; wildcards and verbs of google.api.http are not taken.
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

/** The template with its parameters' names taken out: two that are equal by it match the same paths. */
export function templateShape(segments: readonly Segment[]): string {
  return segments.map((segment) => ("literal" in segment ? `/${segment.literal}` : "/{}")).join("");
}
