/** Sign-in with a passkey that its person chooses, without a name. */
import { KeelsonError } from '@keelson/errors';
import type { AssertionCredential } from '@keelson/passkeys';
import type { ServiceContext } from '../../base/service-context.ts';
import { issueSession } from '../tokens/session-operations.ts';
import type { IssuedToken } from '../tokens/token-operations.ts';
import { withPasskey } from './passkey-operations.ts';

/** How a session is marked that a passkey has begun: possession of the authenticator, and a finger or PIN. */
export const BY_PASSKEY = { isPasskey: true, hasTwoFactors: true } as const;

/** Sign-ins of one process whose signatures are being verified. */
const MOST_UNDER_WAY = 32;

/** @throws KeelsonError `workspace.passkey_refused`, whatever is wrong with it; `workspace.sign_in_locked` */
const signIn = async (
  context: ServiceContext,
  credential: AssertionCredential,
  userAgent: string,
): Promise<IssuedToken> => {
  const issued = await withPasskey(context, { credential, userId: undefined }, (tx, user) =>
    issueSession(tx, user.id, userAgent, context.clock.nowMs(), BY_PASSKEY),
  );
  if (issued === undefined) throw new KeelsonError('workspace.passkey_refused');
  return issued;
};

/** Signs people in, so many at once that the process has time for others. */
export const createPasskeySignIn = (
  context: ServiceContext,
): ((credential: AssertionCredential, userAgent: string) => Promise<IssuedToken>) => {
  let underWay = 0;
  return async (credential, userAgent) => {
    if (underWay >= MOST_UNDER_WAY) throw new KeelsonError('request.rate_limited');
    underWay += 1;
    try {
      return await signIn(context, credential, userAgent);
    } finally {
      underWay -= 1;
    }
  };
};
