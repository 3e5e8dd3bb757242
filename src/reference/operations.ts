// Reads from the OpenAPI document the parts of its operations that a short description needs.
import type { OpenApiDocument } from "../http/openapi-settings.ts";

/** The security scheme of operations that accept an API key. */
export const keyScheme = "apiKey";

/** An operation, with the facts needed to call it. */
export interface OperationSummary {
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  /** The name of its security scheme; undefined if it needs no authentication. */
  readonly scheme: string | undefined;
  readonly query: readonly {
    readonly name: string;
    readonly required: boolean;
    readonly example: string | undefined;
  }[];
  /** The fields of the body that have an example; undefined if there is no body. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** Whether it accepts an `Idempotency-Key`. */
  readonly idempotencyKey: boolean;
  /** The meanings of the error statuses. */
  readonly failures: ReadonlyMap<string, string>;
}

interface Operation {
  readonly tags: readonly string[];
  readonly summary: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly example?: string;
  }[];
  readonly requestBody?: {
    readonly content: { readonly "application/json": { readonly schema: { readonly $ref: string } } };
  };
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

/** Returns all operations, in the order of the document. */
export function listOperations(
  document: OpenApiDocument & { readonly security?: Operation["security"] },
): readonly OperationSummary[] {
  return Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { tags, summary, parameters = [], requestBody, responses } = operation;
      const [scheme] = Object.keys((operation.security ?? document.security ?? [])[0] ?? {});
      return {
        method: method.toUpperCase(),
        path,
        tag: tags[0] ?? "",
        summary,
        scheme,
        query: parameters
          .filter((one) => one.in === "query")
          .map(({ name, required, example }) => ({ name, required, example })),
        body: requestBody && exampleBody(document, requestBody.content["application/json"].schema.$ref),
        idempotencyKey: parameters.some(({ name }) => name === "Idempotency-Key"),
        failures: new Map(
          Object.entries(responses)
            .filter(([status]) => /^[45]/.test(status))
            .map(([status, { description }]) => [status, description]),
        ),
      };
    }),
  );
}

function exampleBody({ components }: OpenApiDocument, reference: string): Readonly<Record<string, unknown>> {
  const schema = components.schemas[reference.slice(reference.lastIndexOf("/") + 1)];
  const properties = Object.entries((schema?.properties ?? {}) as Record<string, { examples?: readonly unknown[] }>);
  return Object.fromEntries(
    properties
      .filter(([, { examples }]) => examples !== undefined)
      .map(([name, { examples }]) => [name, examples?.[0]]),
  );
}
