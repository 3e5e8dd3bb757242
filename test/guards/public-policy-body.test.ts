// The checks that are repeated once the body of a request has arrived, over fake dependencies.
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { reasonOf } from "./made.ts";
import { ann, createContact, getContact, key, one, usePublicPolicy } from "./public-policy.ts";

const { parts, dispatch, call } = usePublicPolicy();

test("checks the switches again once the body has arrived [CON-03]", async () => {
  const { world, inbound } = parts();
  for (const [rpc, off, reason] of [
    [getContact, "publicInterface", "INTERFACE_DISABLED"],
    [createContact, "publicInterface", "INTERFACE_DISABLED"],
    [createContact, "writes", "WRITES_PAUSED"],
  ] as const) {
    const admitted = await dispatch().admit(rpc, inbound(key));
    world[off] = false;
    expect(await reasonOf(admitted.invoke(create(rpc.input, rpc === getContact ? one : ann)))).toBe(reason);
    // A message that cannot be read does not bypass it.
    expect(await reasonOf(admitted.reject([]))).toBe(reason);
    expect(await reasonOf(admitted.prove())).toBe(reason);
    world[off] = true;
  }
  expect(parts().grants).toEqual([]);
});

test("while the interface is off, 503 precedes the 401 of a key that was revoked meanwhile, which is not looked up", async () => {
  await call(getContact, key, one);
  const admitted = await dispatch().admit(getContact, parts().inbound(key));
  parts().world.publicInterface = false;
  parts().world.findKey = () => Promise.resolve(undefined);
  parts().steps.length = 0;
  expect(await reasonOf(admitted.invoke(create(getContact.input, one)))).toBe("INTERFACE_DISABLED");
  expect(parts().steps).toEqual([]);
});

test("before the body arrives, it is known what is wrong with the headers and with given fields [ERR-08]", async () => {
  const admitted = await dispatch().admit(createContact, parts().inbound({ ...key, "idempotency-key": "two words" }));
  const wrong = create(createContact.input, { fullName: "" });
  const fieldsOf = (found: readonly { readonly field: string }[]): string[] => found.map(({ field }) => field);
  expect(fieldsOf(admitted.headViolations())).toEqual(["Idempotency-Key"]);
  expect(fieldsOf(admitted.headViolations(wrong))).toEqual(["Idempotency-Key"]);
  expect(fieldsOf(admitted.headViolations(wrong, ["full_name"]))).toEqual(["full_name", "Idempotency-Key"]);
});
