/** The answer to a promotion, and its warnings. */
import type { Answer } from '@keelson/secrets-api';
import type { PromotionPlan } from './domain/promotion.ts';

/** The description of an answer with `promoted`. */
export const PROMOTED = {
  mirrored: {
    complete: { type: 'boolean' },
    progress: { type: 'integer' },
    required: { type: 'integer' },
    safe: { type: 'boolean', description: 'Whether nothing is lost.' },
    primary_stepped_back: { type: 'boolean' },
    missing_entries: { type: 'integer' },
    unheard_ms: { type: ['integer', 'null'], description: 'Time since the primary was heard of.' },
    dynamic_filtered_mounts: { type: 'array', items: { type: 'string' } },
    dynamic_filtered_namespaces: { type: 'array', items: { type: 'string' } },
    services: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          service: { type: 'string' },
          state: { type: 'string' },
          missing_entries: { type: 'integer' },
        },
      },
    },
  },
} as const;

/** Mirrored outside the envelope, as the API document specifies. */
export const promoted = (warnings: readonly string[], plan: PromotionPlan): Answer => ({
  data: {
    complete: true,
    progress: 0,
    required: 0,
    safe: plan.isSafe,
    primary_stepped_back: plan.isWhole,
    missing_entries: plan.missingEntries,
    unheard_ms: plan.unheardMs ?? null,
    ...plan.kept,
    services: plan.services.map(({ service, state, missingEntries }) => ({
      service,
      state,
      missing_entries: missingEntries,
    })),
  },
  mirrored: true,
  ...(warnings.length > 0 && { warnings: [...warnings] }),
});

const NO_NATS = 'KEELSON_NATS_URL is not set: secondaries cannot follow this cluster until it is.';

const givenUp = ({ missingEntries, arrivingEntries }: PromotionPlan): string =>
  arrivingEntries === 0
    ? `${missingEntries} entries that the former primary has, and that were not in its stream, are given up.`
    : `${missingEntries} entries of the former primary are given up: ${arrivingEntries} of them are in its stream and did not arrive in time.`;

/** Warns that unknown writes of the former primary may be lost. */
const notKnown = ({ unheardMs }: PromotionPlan): string => {
  const since =
    unheardMs === undefined
      ? 'since it was heard of, if it ever was,'
      : `in the last ${(unheardMs / 1000).toFixed(1)} seconds`;
  return `What the former primary has committed ${since} is not known here, and is given up.`;
};

/** Warnings about losses of a promotion, known and possible, and about secondaries that cannot follow. */
export const promotionWarnings = (plan: PromotionPlan, hasNats: boolean): string[] => [
  ...(plan.missingEntries === 0 ? [] : [givenUp(plan)]),
  ...(plan.isSafe || plan.isWhole ? [] : [notKnown(plan)]),
  ...(hasNats ? [] : [NO_NATS]),
];
