// Reads the options on protos that the plugin goes by. It finds them in the input, so that src/gen need not exist.
import type { DescEnumValue, DescExtension, DescField, DescFile, DescMethod } from "@bufbuild/protobuf";
import { getOption, hasOption } from "@bufbuild/protobuf";
import type { FieldRules as ValidateRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { field as validateField } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";

/** `google.api.http`, as far as the gateway takes it. */
export interface HttpRule {
  readonly pattern: { readonly case: string | undefined; readonly value?: unknown };
  readonly body: string;
  readonly responseBody: string;
  readonly additionalBindings: readonly unknown[];
}

/** `records.v1.method`; enum values by their numbers. */
export interface MethodRules {
  readonly credential: number;
  readonly idempotencyKey: boolean;
  readonly successStatus: number;
  readonly location: string;
  readonly errors: readonly number[];
}

/** `records.v1.field`; enum values by their numbers. */
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

/** The options of descriptors; undefined where one is not set. */
export interface Options {
  http(rpc: DescMethod): HttpRule | undefined;
  method(rpc: DescMethod): MethodRules | undefined;
  field(field: DescField): FieldRules | undefined;
  /** By the number that `MethodRules.errors` holds. */
  reason(number: number): ReasonRules | undefined;
  /** `buf.validate.field`; one without any rule where it is not set. */
  validate(field: DescField): ValidateRules;
}

/** Looks the options up among the extensions that these files define. */
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

  /** The shape is that of the option's proto, which this file repeats. */
  function read<Shape>(element: DescMethod | DescField | DescEnumValue, name: string): Shape | undefined {
    const extension: DescExtension | undefined = extensions.get(name);
    return extension !== undefined && hasOption(element, extension)
      ? (getOption(element, extension) as Shape)
      : undefined;
  }
}
