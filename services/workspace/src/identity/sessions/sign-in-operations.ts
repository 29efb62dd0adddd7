/** People sign in with a name or an address and a password, and with a second factor where they have one. */
import { KeelsonError } from '@keelson/errors';
import { normalizedEmail } from '../model/domain/organization.ts';
import {
  findUserByEmail,
  findUserIdByName,
  type User,
  userRecords,
} from '../model/user-records.ts';
import {
  lockoutsOf,
  requirePasswordsEnabled,
  requireSamePassword,
  toLockoutName,
  verifyPasswordOf,
} from '../passwords/password-operations.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { issueSession } from '../tokens/session-operations.ts';
import type { IssuedToken } from '../tokens/token-operations.ts';
import {
  type GivenFactor,
  requireRight,
  verifySecondFactor,
} from '../two-factor/two-factor-operations.ts';

export interface SignInRequest extends GivenFactor {
  /** Name or mail address of the user. */
  readonly login: string;
  readonly password: string;
  readonly userAgent: string;
}

/** Sign-ins of one process whose passwords are being hashed, each of which takes memory and time. */
const MOST_UNDER_WAY = 32;

const findByLogin = async (
  { store }: IdentityContext,
  login: string,
): Promise<User | undefined> => {
  if (login.includes('@')) return findUserByEmail(store, login);
  const id = await findUserIdByName(store, normalizedEmail(login));
  return id === undefined ? undefined : userRecords.find(store, id);
};

/**
 * @throws KeelsonError `workspace.sign_in_refused` for a wrong pair of name and password, whatever is wrong with it;
 *   `workspace.sign_in_locked`, also for names that nobody has; `jsonapi.invalid_attribute` naming the second factor
 */
const signIn = async (context: IdentityContext, request: SignInRequest): Promise<IssuedToken> => {
  const { store, clock } = context;
  await requirePasswordsEnabled(store);
  const verified = await lockoutsOf(context).verifyUnlessLocked(
    toLockoutName(request.login),
    async () =>
      verifyPasswordOf(context, await findByLogin(context, request.login), request.password),
  );
  if (verified === undefined) throw new KeelsonError('workspace.sign_in_refused');
  const outcome = await store.transact(async (tx) => {
    const user = await requireSamePassword(tx, verified);
    const verdict = await verifySecondFactor(context, tx, user, request);
    if (!verdict.isRight) return { verdict };
    return { verdict, issued: await issueSession(tx, user.id, request.userAgent, clock.nowMs()) };
  });
  requireRight(outcome.verdict);
  return outcome.issued as IssuedToken;
};

/** Signs people in, so many at once that the process has memory and time for others. */
export const createSignIn = (
  context: IdentityContext,
): ((request: SignInRequest) => Promise<IssuedToken>) => {
  let underWay = 0;
  return async (request) => {
    if (underWay >= MOST_UNDER_WAY) throw new KeelsonError('request.rate_limited');
    underWay += 1;
    try {
      return await signIn(context, request);
    } finally {
      underWay -= 1;
    }
  };
};
