/** Limits of a request body, depending on the caller. */
import type { BodyBudget } from '../limits/body-budget.ts';
import type { Exchange } from './exchange.ts';
import type { BodyRules } from './incoming-body.ts';

export interface BodyLimits {
  /** Largest body, in bytes. */
  readonly bodyBytes: number;
  /** Largest body of a caller without a valid token, in bytes. */
  readonly anonymousBodyBytes: number;
  /** Largest delivery of a webhook, in bytes. */
  readonly webhookBodyBytes: number;
  readonly budget: BodyBudget;
}

export const bodyRules = (
  { bodyBytes, anonymousBodyBytes, budget }: BodyLimits,
  exchange: Exchange,
  isAnonymous: boolean,
): BodyRules => ({
  limitBytes: isAnonymous ? anonymousBodyBytes : bodyBytes,
  hold: () => exchange.holdBody(budget, isAnonymous),
});

/** Providers have no token; what they send counts in the share of callers without one. */
export const webhookBodyRules = (
  { webhookBodyBytes, budget }: BodyLimits,
  exchange: Exchange,
): BodyRules => ({
  limitBytes: webhookBodyBytes,
  hold: () => exchange.holdBody(budget, true),
});
