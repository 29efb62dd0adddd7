/** Changes of the own account by which somebody could take it over: they need a session, and a proof of its person. */
import { KeelsonError } from '@keelson/errors';
import { refuseInvalid } from '@keelson/jsonapi';
import type { AssertionCredential } from '@keelson/passkeys';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import { passwordRecords } from '../model/credential-records.ts';
import { loadPasskeysOf } from '../model/passkey-records.ts';
import { isSession } from '../model/token-records.ts';
import { type User, userRecords } from '../model/user-records.ts';
import { requireOwnPassword, requireSamePassword } from '../passwords/password-operations.ts';
import { withPasskey } from './passkey-operations.ts';

/** The caller's own account. @throws KeelsonError `workspace.not_found` */
export const requireAccount = async (reads: Reads, { kind, id }: Principal): Promise<User> => {
  const user = kind === 'user' ? await userRecords.find(reads, id) : undefined;
  if (user === undefined) throw notFound('account');
  return user;
};

/**
 * Whoever has found an API token must not decide by what its user signs in.
 * @param change a sentence without its end, such as "passkeys are changed"
 * @throws KeelsonError `workspace.forbidden`
 */
export const requireSession = async (
  reads: Reads,
  { tokenId }: Principal,
  change: string,
): Promise<void> => {
  if (!(await isSession(reads, tokenId)))
    throw new KeelsonError('workspace.forbidden', {
      text: `${change} by a user who has signed in, and not with an API token`,
    });
};

/** Proof of the person of an account: its password, or the answer of a passkey where it has no password. */
export interface Proof {
  readonly password: string | undefined;
  readonly confirmation: AssertionCredential | undefined;
}

/**
 * Runs a change that the caller has confirmed, because whoever finds a session open must not take the account.
 * @param what see `requireSession`
 */
export const confirmed = async <T>(
  context: ServiceContext,
  principal: Principal,
  what: string,
  { password, confirmation }: Proof,
  change: (tx: Transaction, user: User) => Promise<T>,
): Promise<T> => {
  const { store } = context;
  await requireSession(store, principal, what);
  const user = await requireAccount(store, principal);
  if ((await passwordRecords.find(store, user.id)) !== undefined) {
    const verified = await requireOwnPassword(
      context,
      principal,
      password ?? '',
      'current-password',
    );
    return store.transact(async (tx) => change(tx, await requireSamePassword(tx, verified)));
  }
  if ((await loadPasskeysOf(store, user.id)).length === 0)
    return store.transact(async (tx) => change(tx, await requireAccount(tx, principal)));
  const refuse = (text: string): never =>
    refuseInvalid([attributeViolation('confirmation', text)]) as never;
  if (confirmation === undefined)
    return refuse('is missing: a passkey that the account has confirms the change');
  const done = await withPasskey(
    context,
    { credential: confirmation, userId: user.id },
    async (tx, current) => ({ result: await change(tx, current) }),
  );
  return done === undefined ? refuse('is not accepted') : done.result;
};
