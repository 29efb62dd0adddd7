/** Terms of service (RFC 8555 §7.3, §7.3.3): who must agree to them, and when. */

import { AcmeProblem } from '../../problems/problem.ts';
import type { Account } from './account.ts';

export interface Terms {
  /** undefined: there are none. */
  readonly url: string | undefined;
  /** Accounts that were made under other terms, or under none, must agree before they order. */
  readonly bindExisting: boolean;
}

const mustAgree = (terms: string): AcmeProblem =>
  new AcmeProblem('userActionRequired', `the terms of service at ${terms} must be agreed to`, {
    terms,
  });

/**
 * The agreement that a new account records.
 * @throws AcmeProblem `userActionRequired` where there are terms and no agreement
 */
export const acceptTerms = (
  { url }: Terms,
  termsAgreed: boolean,
): Pick<Account, 'termsAgreed' | 'termsUrl'> => {
  if (url !== undefined && !termsAgreed) throw mustAgree(url);
  return { termsAgreed, termsUrl: url };
};

/** @throws AcmeProblem `userActionRequired` for an account that may not order before it agrees */
export const requireTermsInForce = (
  { url, bindExisting }: Terms,
  { termsUrl }: Pick<Account, 'termsUrl'>,
): void => {
  if (bindExisting && url !== undefined && termsUrl !== url) throw mustAgree(url);
};

/** Whether the current terms differ from those that the account agreed to. */
export const mayAgreeAgain = ({ url }: Terms, { termsUrl }: Pick<Account, 'termsUrl'>): boolean =>
  url !== undefined && termsUrl !== url;
