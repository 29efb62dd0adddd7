/** Sign-in to the workspace API with the password of an account. */
import { queryOptions, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { ApiProblem } from '../api/api-problem.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { beginSession } from '../api/session.ts';
import { callWorkspaces, type OneDocument } from '../api/workspaces-api.ts';
import { accountOf } from './account-of.ts';

type Methods = ResourceAttributes['sign-in-methods'];
type Signed = ResourceAttributes['sessions'];

const NONE: Methods = {
  password: false,
  passkey: false,
  'password-reset': false,
  'single-sign-on': null,
};

/** The ways in which people sign in to the workspace API; none while it cannot be asked. */
export const ACCOUNT_METHODS = queryOptions({
  queryKey: ['account-methods'],
  queryFn: async ({ signal }): Promise<Methods> => {
    const call = { signal, token: '' };
    return callWorkspaces<OneDocument<Methods>>('GET', 'sign-in-methods', call).then(
      ({ data }) => data.attributes,
      () => NONE,
    );
  },
  retry: false,
});

export const useAccountMethods = (): UseQueryResult<Methods> => useQuery(ACCOUNT_METHODS);

/** A sign-in whose password was right, and that waits for a second factor. */
export interface AccountFactor {
  readonly name: string;
  readonly password: string;
}

export interface GivenFactor {
  readonly passcode?: string;
  readonly 'recovery-code'?: string;
}

/** Goes on with the session of somebody who has just signed in. */
export const enterAccount = async (token: string): Promise<void> => {
  const known = { ...(await accountOf(token)), isOwnSession: true };
  await beginSession({ workspaces: token }, known);
};

/** The status with which the server asks for a second factor, or refuses one. */
const FACTOR_STATUS = 422;

/** @throws {ApiProblem} in the words of the server */
export const giveFactor = async (
  { name, password }: AccountFactor,
  factor: GivenFactor,
): Promise<void> => {
  const { data } = await callWorkspaces<OneDocument<Signed>>('POST', 'sessions', {
    token: '',
    body: { data: { type: 'sessions', attributes: { login: name, password, ...factor } } },
  });
  await enterAccount(data.attributes.token ?? '');
};

/**
 * @returns the sign-in that waits for a second factor, if the account has one
 * @throws {ApiProblem} in the words of the server
 */
export const signInToAccount = async (given: AccountFactor): Promise<AccountFactor | undefined> => {
  try {
    await giveFactor(given, {});
    return undefined;
  } catch (error) {
    if (error instanceof ApiProblem && error.status === FACTOR_STATUS) return given;
    throw error;
  }
};
