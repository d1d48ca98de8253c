// A Node.js process that makes spans and exports them with the official SDK: node send.mjs PROTOCOL ENDPOINT COUNT
// Prints what it made, and what became of each batch by the exporter's own word.
import { OTLPTraceExporter as Grpc } from "@opentelemetry/exporter-trace-otlp-grpc";
import { OTLPTraceExporter as Json } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as Protobuf } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";

const [protocol, url, count] = process.argv.slice(2);
const timeoutMillis = 60_000;
const exporter = new { grpc: Grpc, json: Json, protobuf: Protobuf }[protocol]({ url, timeoutMillis });
const told = { made: [], taken: [], dropped: [] };

const idsOf = (span) => {
  const { traceId, spanId } = span.spanContext();
  return [traceId, spanId];
};
const listening = {
  export(spans, done) {
    exporter.export(spans, (result) => {
      told[result.code === 0 ? "taken" : "dropped"].push(...spans.map(idsOf));
      done(result);
    });
  },
  forceFlush: () => exporter.forceFlush(),
  shutdown: () => exporter.shutdown(),
};

const processor = new BatchSpanProcessor(listening, {
  maxQueueSize: Number(count),
  maxExportBatchSize: 64,
  scheduledDelayMillis: 50,
  exportTimeoutMillis: timeoutMillis,
});
const provider = new NodeTracerProvider({ spanProcessors: [processor] });
const tracer = provider.getTracer("agent");
for (let number = 0; number < Number(count); number++) {
  const span = tracer.startSpan("execute_tool search", { attributes: { number } });
  told.made.push(idsOf(span));
  span.end();
}
await provider.forceFlush().catch(() => {}); // it rejects when a batch was dropped, which is told below
await provider.shutdown().catch(() => {});
console.log(JSON.stringify(told));
