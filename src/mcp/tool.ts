// What a tool is: how it is described to a model, and how it is called.
import type { OpenApiDocument } from "../../gateway/openapi.ts";
import { unknownArgument } from "../../gateway/arguments.ts";
import { collectUnknown } from "../../gateway/unknown-names.ts";
import type { ObjectSchema } from "../../gateway/tool-schema.ts";
import type { Violation } from "../errors.ts";
import { rejectInput } from "../errors.ts";
import type { Inbound } from "../call/dispatch.ts";
import type { Content } from "./bounds.ts";
import type { Calls } from "./calls.ts";

/** What a tool call has to work with. */
export interface ToolContext {
  readonly calls: Calls;
  readonly inbound: Inbound;
  /** What the outside calls us, without a trailing slash. */
  readonly baseUrl: string;
}

/** The arguments of a tool, as they were sent. */
export type Arguments = Readonly<Record<string, unknown>>;

/** A tool of the surface. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  /** When to use it, and what comes back: for a model. */
  readonly description: string;
  schemas(document: OpenApiDocument): { readonly input: ObjectSchema; readonly output: ObjectSchema };
  /** How to get the rest, where a result is cut to its bound. */
  readonly rest: string;
  /** What to try when nothing was found. It claims nothing of what was not searched. */
  empty?(given: Arguments, content: Content): string;
  /** The structured content. Fails with a Failure, whose message goes to the model. */
  run(given: Arguments, context: ToolContext): Promise<Readonly<Record<string, unknown>>>;
}

/** Rejects arguments that the tool does not have, naming those that it has. */
export function rejectOthers(given: Arguments, names: readonly string[]): void {
  const violations: Violation[] = [];
  const unknown = collectUnknown(violations);
  for (const name of Object.keys(given)) if (!names.includes(name)) unknown.add(() => unknownArgument(name, names));
  unknown.finish();
  if (violations.length > 0) rejectInput(violations);
}
