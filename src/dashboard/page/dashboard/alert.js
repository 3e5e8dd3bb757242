// Shows a failure next to the control that caused it.
import { failureOf } from "./api.js";
import { make } from "./elements.js";

/**
 * @param {unknown} thrown
 * @param {string} [more] a sentence that follows
 */
export function alertOf(thrown, more) {
  const { message, requestId } = failureOf(thrown);
  return make("div", { class: "alert", role: "alert" }, [
    make("p", {}, [more === undefined ? message : `${message} ${more}`]),
    requestId === undefined ? undefined : make("p", { class: "small" }, ["Request ", make("code", {}, [requestId])]),
  ]);
}
