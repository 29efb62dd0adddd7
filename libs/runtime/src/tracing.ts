/**
 * OpenTelemetry on request: without an endpoint the SDK is not loaded, and calls of @opentelemetry/api do
 * nothing.
 */
import type { Logger } from '@keelson/logging';
import type { Tracing } from './otlp-tracer.ts';

export interface TracingOptions {
  /** `service.name` of the spans: "keelson-gateway". */
  readonly serviceName: string;
  /** OTLP over HTTP, without `/v1/traces`: "http://collector:4318". Absent means no tracing. */
  readonly endpoint?: string | undefined;
  readonly logger: Logger;
}

const NO_TRACING: Tracing = { stop: () => Promise.resolve() };

/** Registers a tracer for the process when an endpoint is given. Sampling follows the caller's flag. */
export const startTracing = async (options: TracingOptions): Promise<Tracing> => {
  if (options.endpoint === undefined) return NO_TRACING;
  const { registerTracer } = await import('./otlp-tracer.ts');
  return registerTracer(options.serviceName, options.endpoint, options.logger);
};
