/** How much of a request's body is taken, by who sent it. */
import type { BodyBudget } from '../limits/body-budget.ts';
import type { Exchange } from './exchange.ts';
import type { BodyRules } from './incoming-body.ts';

export interface BodyLimits {
  /** Largest body, in bytes. */
  readonly bodyBytes: number;
  /** The same where nobody is known to have sent it. */
  readonly anonymousBodyBytes: number;
  readonly budget: BodyBudget;
}

export const bodyRules = (
  { bodyBytes, anonymousBodyBytes, budget }: BodyLimits,
  exchange: Exchange,
  isAnonymous: boolean,
  isWhole: boolean,
): BodyRules => ({
  limitBytes: isAnonymous ? anonymousBodyBytes : bodyBytes,
  isWhole,
  hold: () => exchange.holdBody(budget, isAnonymous),
});
