import { Counter, type MetricsRegistry } from '@keelson/metrics';
import type { MfaContext } from './mfa-context.ts';

const RESULTS = ['passed', 'refused'] as const;

/** Counts the second factors of logins; see docs/metrics.md. */
export const createFactorCounter = (registry: MetricsRegistry): MfaContext['countFactor'] => {
  const counter = new Counter({
    name: 'keelson_second_factors_total',
    help: 'Second factors of logins by their result.',
    labelNames: ['result'],
    registers: [registry],
  });
  // A rate needs a value before the first login.
  for (const result of RESULTS) counter.labels({ result }).inc(0);
  return (result) => counter.labels({ result }).inc();
};
