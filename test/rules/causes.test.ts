// Every 503 of our own says why, for the log: an error as its cause, or a word.
import { sourcesIn } from "../architecture/sources.ts";
import { unexplained } from "./causes.ts";
import { declareRule } from "./rule.ts";

declareRule({
  title: "a request that fails in the service itself has a cause for its log line [OPS-26]",
  sources: sourcesIn("src"),
  breaches: (sources) => sources.flatMap(unexplained),
  bad: [
    ["a failure", "return fail(Reason.UNAVAILABLE);"],
    ["a failure after a deadline", "throw new Failure(Reason.DEADLINE_EXCEEDED);"],
    ["a failure by the deadline's own reason", "return fail(deadline.reason, { retryAfter: 1 });"],
    ["a failure of several lines", "return fail(Reason.UNAVAILABLE, {\n  retryAfter: 1,\n});"],
  ],
  good: [
    ["a failure with a word", 'fail(Reason.UNAVAILABLE, { because: "overload" });'],
    ["a failure with a cause", "fail(Reason.UNAVAILABLE, { cause: error });"],
    ["a failure of the caller", "fail(Reason.NOT_FOUND);"],
  ],
});
