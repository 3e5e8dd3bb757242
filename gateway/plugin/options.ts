// Reads the options of protos that the plugin uses. It finds them in the input, so that src/gen need not exist.
import type { DescEnumValue, DescExtension, DescField, DescFile, DescMethod } from "@bufbuild/protobuf";
import { getOption, hasOption } from "@bufbuild/protobuf";
import type { FieldRules as ValidateRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { field as validateField } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";

/** The parts of `google.api.http` that the gateway supports. */
export interface HttpRule {
  readonly pattern: { readonly case: string | undefined; readonly value?: unknown };
  readonly body: string;
  readonly responseBody: string;
  readonly additionalBindings: readonly unknown[];
}

/** `records.v1.method`, with enum values as numbers. */
export interface MethodRules {
  readonly credential: number;
  readonly idempotencyKey: boolean;
  readonly successStatus: number;
  readonly location: string;
  readonly errors: readonly number[];
}

/** `records.v1.field`, with enum values as numbers. */
export interface FieldRules {
  readonly format: number;
  readonly defaultValue?: number;
  readonly providerName: boolean;
  readonly patternMessage: string;
  readonly example: string;
  readonly notNull: boolean;
  readonly beyondRest: boolean;
  readonly optionalBeyondRest: boolean;
}

/** A value of `records.v1.Reason` with its option `records.v1.reason`. */
export interface ReasonRules {
  readonly value: DescEnumValue;
  readonly httpStatus: number;
}

/** Readers of the options of descriptors. They return undefined for an unset option. */
export interface Options {
  http(rpc: DescMethod): HttpRule | undefined;
  method(rpc: DescMethod): MethodRules | undefined;
  field(field: DescField): FieldRules | undefined;
  /** Returns the reason with a number from `MethodRules.errors`. */
  reason(number: number): ReasonRules | undefined;
  /** Returns `buf.validate.field`; without any rule if it is not set. */
  validate(field: DescField): ValidateRules;
}

/** Finds the options among the extensions that these files define. */
export function findOptions(files: readonly DescFile[]): Options {
  const extensions = new Map(
    files.flatMap((file) => file.extensions).map((extension) => [extension.typeName, extension]),
  );
  const reasons = extensions.get("records.v1.method")?.message?.fields.find(({ name }) => name === "errors")?.enum;
  return {
    http: (rpc) => read<HttpRule>(rpc, "google.api.http"),
    method: (rpc) => read<MethodRules>(rpc, "records.v1.method"),
    field: (field) => read<FieldRules>(field, "records.v1.field"),
    reason: (number) => {
      const value = reasons?.value[number];
      const rules = value && read<{ readonly httpStatus: number }>(value, "records.v1.reason");
      return value && rules && { value, httpStatus: rules.httpStatus };
    },
    validate: (field) => getOption(field, validateField),
  };

  /** Returns an option. `Shape` must match the option's proto. */
  function read<Shape>(element: DescMethod | DescField | DescEnumValue, name: string): Shape | undefined {
    const extension: DescExtension | undefined = extensions.get(name);
    return extension !== undefined && hasOption(element, extension)
      ? (getOption(element, extension) as Shape)
      : undefined;
  }
}
