import type { Parameters } from 'fast-check';

/**
 * Settings of `fc.assert`. A failure prints seed and path; PROPERTY_SEED repeats a run, and
 * PROPERTY_FACTOR multiplies the number of cases for a long one.
 */
export const propertySettings = <T>(settings: Parameters<T> = {}): Parameters<T> => {
  const seed = process.env['PROPERTY_SEED'];
  const factor = Number(process.env['PROPERTY_FACTOR'] ?? 1);
  return {
    ...settings,
    numRuns: (settings.numRuns ?? 100) * factor,
    ...(seed === undefined ? {} : { seed: Number(seed) }),
  };
};
