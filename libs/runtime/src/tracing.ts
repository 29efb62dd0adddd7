/**
 * OpenTelemetry, only when asked for: without an endpoint nothing of the SDK is loaded, and the calls
 * of @opentelemetry/api all over the code cost a no-op.
 */
import type { Logger } from '@keelson/logging';

export interface TracingOptions {
  /** `service.name` of the spans: "keelson-gateway". */
  readonly serviceName: string;
  /** OTLP over HTTP, without the `/v1/traces`: "http://collector:4318". Absent: no tracing. */
  readonly endpoint?: string | undefined;
  readonly logger: Logger;
}

export interface Tracing {
  /** Sends what is still held and stops. */
  stop(): Promise<void>;
}

const NO_TRACING: Tracing = { stop: () => Promise.resolve() };

/** Registers a tracer for the process when an endpoint is given. Sampling follows the caller's flag. */
export const startTracing = async (options: TracingOptions): Promise<Tracing> => {
  if (options.endpoint === undefined) return NO_TRACING;
  const { registerTracer } = await import('./otlp-tracer.ts');
  return registerTracer(options.serviceName, options.endpoint, options.logger);
};
