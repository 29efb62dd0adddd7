/** Terms of service (RFC 8555 §7.3, §7.3.3) and the rules for agreeing to them. */

import { AcmeProblem } from '../../problems/problem.ts';
import type { Account } from './account.ts';

export interface Terms {
  /** undefined if there are no terms. */
  readonly url: string | undefined;
  /**
   * Whether accounts created under other terms, or under none, must agree before they can order.
   */
  readonly bindExisting: boolean;
}

const mustAgree = (terms: string): AcmeProblem =>
  new AcmeProblem('userActionRequired', `the terms of service at ${terms} must be agreed to`, {
    terms,
  });

/**
 * The agreement to store with a new account. @throws AcmeProblem `userActionRequired` if there are
 * terms that the client did not agree to
 */
export const acceptTerms = (
  { url }: Terms,
  termsAgreed: boolean,
): Pick<Account, 'termsAgreed' | 'termsUrl'> => {
  if (url !== undefined && !termsAgreed) throw mustAgree(url);
  return { termsAgreed, termsUrl: url };
};

/** @throws AcmeProblem `userActionRequired` for an account that must agree before it can order */
export const requireTermsInForce = (
  { url, bindExisting }: Terms,
  { termsUrl }: Pick<Account, 'termsUrl'>,
): void => {
  if (bindExisting && url !== undefined && termsUrl !== url) throw mustAgree(url);
};

/** Whether the current terms differ from those that the account agreed to. */
export const mayAgreeAgain = ({ url }: Terms, { termsUrl }: Pick<Account, 'termsUrl'>): boolean =>
  url !== undefined && termsUrl !== url;
