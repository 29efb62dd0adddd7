/** Verifies passkeys. A challenge is accepted once, for one login, and whoever tries out has to wait. */
import { createHash } from 'node:crypto';
import { waitsUntilMs } from '@keelson/credentials';
import {
  type Ceremony,
  type ChallengePlace,
  type Passkey,
  PasskeyRefusal,
  parseAssertion,
  relyingPartyOf,
  type SignInOptions,
  signInOptions,
  verifySignIn,
  withUsed,
} from '@keelson/passkeys';
import type { Transaction } from '@keelson/storage';
import { findEntity } from '../identity/entity-records.ts';
import type { EntityRef } from '../tokens/domain/token-entry.ts';
import type { PasskeyMethod } from './domain/passkey-method.ts';
import type { Constraint } from './enforcement-operations.ts';
import type { FactorVerdict, MfaContext } from './mfa-context.ts';
import {
  findPasskeys,
  findPasskeyUses,
  type PasskeyUses,
  writePasskeyUses,
} from './passkey-records.ts';

/** The first wait after too many failures. */
const WAIT_SECONDS = 30;

/** @throws PasskeyRefusal where browsers have no passkeys for the address of the installation */
export const ceremonyOf = (
  { clock, publicUrl }: MfaContext,
  method: PasskeyMethod,
  place: ChallengePlace,
): Ceremony => ({
  party: relyingPartyOf(publicUrl, {
    name: method.relyingPartyName,
    id: method.relyingPartyId,
    origins: method.origins,
  }),
  userVerification: method.userVerification,
  key: method.challengeKey,
  place,
  nowMs: clock.nowMs(),
});

/** A login can be finished with the challenge that was made for it, at the cluster that made it, and with no other. */
export const loginSubject = async (
  { clusterId }: MfaContext,
  requestId: string,
  { id }: EntityRef,
): Promise<string> => {
  const login = createHash('sha256').update(requestId).digest('base64url');
  return `login/${await clusterId()}/${login}/${id}`;
};

/** The error of a client, in words. */
export const textOf = ({ field, message }: PasskeyRefusal): string =>
  field === '' ? `the credential ${message}` : `${field}: ${message}`;

/** Undefined where no passkey of the entity is of use at this address. */
export const confirmationOptions = async (
  context: MfaContext,
  method: PasskeyMethod,
  passkeys: readonly Passkey[],
  subject: string,
): Promise<SignInOptions | undefined> => {
  try {
    const ceremony = ceremonyOf(context, method, { purpose: 'sign-in', subject });
    const options = await signInOptions(ceremony, passkeys);
    return options.allowCredentials?.length === 0 ? undefined : options;
  } catch (error) {
    if (error instanceof PasskeyRefusal) return undefined;
    throw error;
  }
};

/** The options for the browser of a login that waits, by the ids of the methods for which there are passkeys. */
export const passkeyOptions = async (
  context: MfaContext,
  requestId: string,
  entity: EntityRef,
  constraints: readonly Constraint[],
): Promise<ReadonlyMap<string, SignInOptions>> => {
  const found = new Map<string, SignInOptions>();
  if (!constraints.some(({ methods }) => methods.some(({ type }) => type === 'webauthn')))
    return found;
  const subject = await loginSubject(context, requestId, entity);
  for (const method of constraints.flatMap(({ methods }) => methods)) {
    if (method.type !== 'webauthn' || found.has(method.id)) continue;
    const place = { namespaceId: entity.namespaceId, entityId: entity.id, methodId: method.id };
    const passkeys = await findPasskeys(context.store, place);
    const options = await confirmationOptions(context, method, passkeys, subject);
    if (options !== undefined) found.set(method.id, options);
  }
  return found;
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

/** A passkey of an entity that answers a challenge. */
export interface PasskeyAnswer {
  readonly method: PasskeyMethod;
  readonly entity: EntityRef;
  /** As the challenge was made. */
  readonly subject: string;
  /** The credential that the browser has sent, as JSON. */
  readonly credential: string;
}

/** @throws PasskeyRefusal */
const accept = async (
  context: MfaContext,
  { method, entity, subject, credential: text }: PasskeyAnswer,
  passkeys: readonly Passkey[],
  uses: PasskeyUses,
  mergedIds: readonly string[],
): Promise<PasskeyUses> => {
  const credential = parseAssertion(parseJson(text));
  const passkey = passkeys.find(({ id }) => id === credential.id);
  if (passkey === undefined)
    throw new PasskeyRefusal('user', 'id', 'the passkey is not one of the entity');
  const ceremony = ceremonyOf(context, method, { purpose: 'sign-in', subject });
  const use = uses.byPasskey[passkey.id];
  const known = { passkey, use, userHandles: [entity.id, ...mergedIds] };
  const verified = await verifySignIn(ceremony, credential, known);
  return {
    failures: 0,
    lastFailureMs: 0,
    usedChallenges: withUsed(uses.usedChallenges, verified.challenge, ceremony.nowMs),
    byPasskey: { ...uses.byPasskey, [passkey.id]: verified.use },
  };
};

/** Verifies the answer to a challenge, and counts it. */
export const confirmPasskey = async (
  context: MfaContext,
  tx: Transaction,
  answer: PasskeyAnswer,
): Promise<FactorVerdict> => {
  const { method, entity } = answer;
  const place = { namespaceId: entity.namespaceId, entityId: entity.id, methodId: method.id };
  const passkeys = await findPasskeys(tx, place);
  if (passkeys.length === 0)
    return { isRight: false, text: `the entity has no passkey for the MFA method ${method.id}` };
  const uses = await findPasskeyUses(tx, place);
  const nowMs = context.clock.nowMs();
  const waitMs =
    waitsUntilMs(
      { lastPeriod: -1, failures: uses.failures, lastFailureMs: uses.lastFailureMs },
      { maxAttempts: method.maxAttempts, periodSeconds: WAIT_SECONDS },
    ) - nowMs;
  if (waitMs > 0)
    return {
      isRight: false,
      text: `too many failed attempts: try again in ${Math.ceil(waitMs / 1000)} seconds`,
    };
  try {
    const { mergedIds = [] } = (await findEntity(tx, entity.namespaceId, entity.id)) ?? {};
    const used = await accept(context, answer, passkeys, uses, mergedIds);
    writePasskeyUses(tx, place, used, passkeys);
    return { isRight: true };
  } catch (error) {
    if (!(error instanceof PasskeyRefusal)) throw error;
    const failed = { ...uses, failures: uses.failures + 1, lastFailureMs: nowMs };
    writePasskeyUses(tx, place, failed, passkeys);
    return { isRight: false, text: textOf(error) };
  }
};
