// Exports spans to the trace collector, and logs when the collector becomes unreachable and when it responds again.
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import type { SpanExporter } from "@opentelemetry/sdk-trace-base";
import type { Logger } from "pino";

const timeoutMs = 4_000;

/** Creates an exporter that sends OTLP over HTTP in protobuf. The headers may contain a secret and are never logged. */
export function createExporter(url: string, headers: Readonly<Record<string, string>>, log: Logger): SpanExporter {
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
