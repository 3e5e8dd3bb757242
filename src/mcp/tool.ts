// Interface of a tool: its description for a model, and how to call it.
import type { OpenApiDocument } from "../http/openapi-settings.ts";
import { unknownArgument } from "./arguments.ts";
import { collectUnknown } from "../http/unknown-names.ts";
import type { ObjectSchema } from "./tool-schema.ts";
import type { Violation } from "../call/errors.ts";
import type { UserProfile } from "../guards/call.ts";
import { rejectInput } from "../call/errors.ts";
import type { Inbound, OnError } from "../call/dispatch.ts";
import type { Content } from "./bounds.ts";
import type { Calls } from "./calls.ts";

/** The context of a tool call. */
export interface ToolContext {
  readonly calls: Calls;
  readonly inbound: Inbound;
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
  /** What the access token says of the user. */
  readonly profile: UserProfile;
  /** Returns the user, also as the identity provider describes them. Never rejects. */
  user(): Promise<UserProfile>;
  /** Called for an error that no call has reported. */
  readonly onError: OnError;
}

/** The arguments of a tool as received. */
export type Arguments = Readonly<Record<string, unknown>>;

/** A tool of the surface. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  /** Explains to a model when to use the tool and what it returns. */
  readonly description: string;
  schemas(document: OpenApiDocument): { readonly input: ObjectSchema; readonly output: ObjectSchema };
  /** How to get the rest of a result that was cut. */
  readonly rest: string;
  /** Returns what to try after an empty result. Claims nothing about data that was not searched. */
  empty?(given: Arguments, content: Content): string;
  /** Returns the structured content. Fails with a Failure, whose message the model sees. */
  run(given: Arguments, context: ToolContext): Promise<Readonly<Record<string, unknown>>>;
}

/** Rejects unknown arguments, and names the known ones. */
export function rejectOthers(given: Arguments, names: readonly string[]): void {
  const violations: Violation[] = [];
  const unknown = collectUnknown(violations);
  for (const name of Object.keys(given)) if (!names.includes(name)) unknown.add(() => unknownArgument(name, names));
  unknown.finish();
  if (violations.length > 0) rejectInput(violations);
}
