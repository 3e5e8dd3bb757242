// OpenTelemetry tracing: a span for each request and for each command that it causes. Loaded only if a trace collector
// is configured.
import { randomUUID } from "node:crypto";
import type { Context, Span } from "@opentelemetry/api";
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  createContextKey,
  createTraceState,
  trace,
} from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-base";
import type { Logger } from "pino";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import type { SpanExporter } from "@opentelemetry/sdk-trace-base";
import type { TracingConfig } from "../config/config.ts";
import type { ListenerOptions, Request } from "../call/exchange.ts";
import { withTimeout } from "../call/time-limit.ts";
import type { CommandObserver } from "./commands.ts";
import type { RequestRecord } from "./record.ts";
import { release } from "./release.ts";
import { commandAttributes, commandName, requestAttributes, requestName } from "./span-attributes.ts";
import { parseTraceParent } from "./trace-parent.ts";

/** A request in progress. Once it is over, it gets no more child spans: later work does not belong to it. */
interface Handled {
  readonly span: Span;
  requestId: string;
  over: boolean;
}

const handledKey = createContextKey("records request");
const closeWithinMs = 2_000;

/** Creates spans for requests and the commands that they cause. */
export type Tracing = ReturnType<typeof startTracing>;

/** Starts tracing. Uses no global state, so instances in one process trace separately. */
export function startTracing(config: TracingConfig, log: Logger) {
  const provider = createProvider(config, log);
  const tracer = provider.getTracer("records", release);
  const contexts = new AsyncLocalStorageContextManager().enable();
  const handled = (): Handled | undefined => {
    const current = contexts.active().getValue(handledKey) as Handled | undefined;
    return current?.over === true ? undefined : current;
  };

  return {
    /** Returns options with which a listener runs each request in its own span, a child of the caller's `traceparent`. */
    around({ handle, rejectExpectation, ...options }: ListenerOptions): ListenerOptions {
      const inSpan =
        (work: typeof handle): typeof handle =>
        (request, response) => {
          const parent = callerOf(request);
          const span = tracer.startSpan(request.method ?? "", { kind: SpanKind.SERVER }, parent);
          const current: Handled = { span, requestId: "", over: false };
          contexts.with(trace.setSpan(parent, span).setValue(handledKey, current), () => work(request, response));
        };
      return { ...options, handle: inSpan(handle), rejectExpectation: inSpan(rejectExpectation) };
    },
    /** Returns the span of the current request; undefined outside a request. */
    enter(requestId: string) {
      const current = handled();
      if (current === undefined) return undefined;
      const { span } = current;
      current.requestId = requestId;
      return {
        traceId: span.spanContext().traceId,
        /** Names the span from the finished request, and ends it. */
        end(record: RequestRecord, httpVersion: string) {
          current.over = true;
          span.updateName(requestName(record)).setAttributes(requestAttributes(record, httpVersion));
          if (record.outcome >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
    /** Creates a child span for each command that a request causes. */
    commands: ((command) => {
      if (handled()?.span.isRecording() !== true) return nothing;
      const span = tracer.startSpan(
        commandName(command),
        { kind: SpanKind.CLIENT, attributes: commandAttributes(command) },
        contexts.active(),
      );
      return (error) => endCommand(span, error);
    }) satisfies CommandObserver,
    /**
     * Returns headers that link a call to another service with the request that causes it: `traceparent`, `tracestate`,
     * `X-Request-Id`. Returns no headers outside a request.
     */
    outgoing() {
      const current = handled();
      return current === undefined ? {} : headersOf(current);
    },
    /** Sends the remaining spans within two seconds. Never rejects. */
    async close() {
      await withTimeout(closeWithinMs, provider.shutdown()).catch(() => undefined);
      contexts.disable();
    },
  };
}

const nothing = (): void => undefined;

function createProvider({ url, headers, serviceName, ratio }: TracingConfig, log: Logger): BasicTracerProvider {
  return new BasicTracerProvider({
    resource: resourceFromAttributes({
      "service.name": serviceName,
      "service.version": release,
      "service.instance.id": randomUUID(),
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [
      new BatchSpanProcessor(createExporter(url, headers, log), {
        maxQueueSize: 8_192,
        maxExportBatchSize: 512,
        scheduledDelayMillis: 1_000,
        exportTimeoutMillis: 5_000,
      }),
    ],
  });
}

function endCommand(span: Span, error: string | undefined): void {
  if (error !== undefined)
    span
      .setAttributes({ "error.type": error, "db.response.status_code": error })
      .setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** Returns the headers that make another service's spans children of the request's span. */
function headersOf({ span, requestId }: Handled): Readonly<Record<string, string>> {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const state = traceState?.serialize() ?? "";
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`,
    ...(state === "" ? {} : { tracestate: state }),
    "x-request-id": requestId,
  };
}

/** Returns a context with the caller's span as the parent, or the root context without one. */
function callerOf({ headers }: Request): Context {
  const { traceparent, tracestate } = headers;
  const parent = parseTraceParent(typeof traceparent === "string" ? traceparent : undefined);
  if (parent === undefined) return ROOT_CONTEXT;
  const { traceId, spanId, sampled } = parent;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    ...(typeof tracestate === "string" ? { traceState: createTraceState(tracestate) } : {}),
  });
}

const timeoutMs = 4_000;

/** Creates an exporter that sends OTLP over HTTP in protobuf. The headers may contain a secret and are never logged. */
function createExporter(url: string, headers: Readonly<Record<string, string>>, log: Logger): SpanExporter {
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: timeoutMs });
  let away = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        // 0 is ExportResultCode.SUCCESS.
        const failed = result.code !== 0;
        if (failed && !away)
          log.warn(
            { spans: spans.length, error: result.error?.name },
            "the trace collector cannot be reached (OTEL_EXPORTER_OTLP_ENDPOINT): spans are lost until it responds again",
          );
        if (!failed && away) log.info("the trace collector responds again");
        away = failed;
        done(result);
      });
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}
