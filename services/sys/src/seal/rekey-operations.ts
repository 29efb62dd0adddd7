/**
 * New key shares. Those that open the seal also get a new root key, so that the former ones open no later copy with
 * what an earlier one contains; recovery shares do not, because the key file opens the seal (`rotate/unseal-key`). With verification, the new shares must be given back once before they
 * replace the old ones, so that shares lost in transit lock nobody out.
 */
import { randomUUID, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import type { Store, Transaction } from '@keelson/storage';
import {
  type Cancellation,
  type Ceremony,
  isComplete,
  requireCancellable,
  sharesOf,
  underSet,
  withProvenShares,
  withShare,
} from './domain/ceremony.ts';
import { requireShareCounts, type ShareCounts } from './domain/share-counts.ts';
import { fingerprintsOf, type ShareSet } from './domain/share-set.ts';
import { parseShare } from './domain/share-text.ts';
import { joinShares, splitKey } from './key-shares.ts';
import { KEY_BYTES } from './root-key-wrap.ts';
import { newKey, type Seal } from './seal.ts';
import {
  type RekeyPurpose,
  rekeyBackups,
  rekeyCeremonies,
  sealRecords,
  shareSealOf,
  shareSealRecords,
} from './seal-records.ts';
import { checkPgpKeys, type HandedShares, handOut } from './sealed-shares.ts';
import { publicShareKey, wrapForShares } from './share-wrap.ts';

export type RekeyAttempt = Ceremony<RekeyPurpose>;

interface RekeyRequest extends ShareCounts {
  readonly pgpKeys: readonly string[];
  readonly backup: boolean;
  readonly requireVerification: boolean;
}

/** The result of an update: progress, or with `handed` the new shares that end the first stage. */
export interface RekeyOutcome {
  readonly attempt: RekeyAttempt;
  readonly handed: HandedShares | undefined;
}

/** Encrypted shares of the last rekey, hex, by fingerprint of the PGP key. */
export interface RekeyBackup {
  readonly nonce: string;
  readonly keys: Readonly<Record<string, readonly string[]>>;
}

export interface RekeyContext {
  readonly store: Store;
  readonly seal: Seal;
  readonly clock: Clock;
  /** `barrier`: shares that open the seal; `recovery`: recovery shares of a static seal. */
  readonly kind: 'barrier' | 'recovery';
  /** True when this cluster uses the shares of its primary. */
  readonly followsPrimary: () => boolean;
}

type GiveShare = { readonly key: string; readonly nonce: string };

const TEXTS = { name: 'rekey', short: 'rekey' };
const VERIFY_TEXTS = { name: 'rekey verification', short: 'rekey verification' };

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const requireKind = async ({ seal, followsPrimary, kind }: RekeyContext): Promise<void> => {
  seal.requireRootKey();
  if (followsPrimary())
    refuse('the key shares of this cluster are those of its primary: rekey there');
  if ((await seal.record())?.type !== (kind === 'barrier' ? 'shamir' : 'static')) {
    refuse(
      kind === 'barrier'
        ? 'rekeying of barrier not supported with a static seal; rekey the recovery key'
        : 'recovery rekeying not supported',
    );
  }
};

const requireAttempt = async ({ kind }: RekeyContext, tx: Transaction): Promise<RekeyAttempt> =>
  (await rekeyCeremonies.find(tx, kind)) ?? refuse('no rekey configuration found');

/** Lets the shares of `set` take effect. @param publicKey public half of the key that they yield */
const apply = async (
  { seal, kind }: RekeyContext,
  tx: Transaction,
  set: ShareSet,
  publicKey: Uint8Array,
  newRootKey: () => Promise<Uint8Array>,
): Promise<void> => {
  const record = await sealRecords.find(tx);
  if (record === undefined) throw new KeelsonError('sys.not_initialized');
  const { fingerprints: _, ...seals } = record;
  const isKept = kind === 'recovery' || (await seal.isRootKeyShared(tx));
  const rootKey = isKept ? seal.requireRootKey() : await newRootKey();
  const ofShares = shareSealOf({ ...set, wrappedForShares: wrapForShares(publicKey, rootKey) });
  shareSealRecords.write(tx, ofShares);
  sealRecords.write(tx, { ...seals, ...ofShares });
  rekeyCeremonies.delete(tx, kind);
};

type Pending = NonNullable<RekeyPurpose['pending']>;

/** The attempt in its second stage, which waits for the new shares. */
const withVerification = (
  { clock }: RekeyContext,
  attempt: RekeyAttempt,
  made: Pick<Pending, 'key' | 'fingerprints'>,
): RekeyAttempt => {
  const pending = { ...made, nonce: randomUUID(), startedAtMs: clock.nowMs(), shares: [] };
  return { ...attempt, purpose: { ...attempt.purpose, pending } };
};

/** The new shares, which an attempt in its second stage waits for. */
const newSet = ({ shares, threshold }: ShareCounts, { fingerprints }: Pending): ShareSet => ({
  shares,
  threshold,
  ...(fingerprints !== undefined && { fingerprints }),
});

const writeBackup = (
  { kind }: RekeyContext,
  tx: Transaction,
  { nonce, purpose }: RekeyAttempt,
  handed: HandedShares,
): void => {
  if (!purpose.backup) return;
  const keys: Record<string, string[]> = {};
  for (const [index, fingerprint] of purpose.pgpFingerprints.entries()) {
    (keys[fingerprint] ??= []).push(handed.keys[index] ?? '');
  }
  rekeyBackups.write(tx, kind, { nonce, keys });
};

export const findRekey = async ({
  store,
  seal,
  kind,
}: RekeyContext): Promise<RekeyAttempt | undefined> => {
  const attempt = await rekeyCeremonies.find(store, kind);
  return attempt && underSet(attempt, await seal.shareSet());
};

/** Number of shares that an attempt started now would need. */
export const requiredShares = async ({ seal }: RekeyContext): Promise<number> =>
  (await seal.record())?.threshold ?? 0;

export const startRekey = async (
  context: RekeyContext,
  request: RekeyRequest,
): Promise<RekeyAttempt> => {
  await requireKind(context);
  const counts = requireShareCounts(request);
  if (request.backup && request.pgpKeys.length === 0) {
    refuse('cannot request a backup of the new keys without providing PGP keys for encryption');
  }
  const pgpFingerprints = await checkPgpKeys(request.pgpKeys, counts.shares, 'rekey');
  const required = await requiredShares(context);
  const attempt: RekeyAttempt = {
    nonce: randomUUID(),
    startedAtMs: context.clock.nowMs(),
    required,
    shares: [],
    purpose: {
      ...counts,
      pgpKeys: request.pgpKeys,
      pgpFingerprints,
      backup: request.backup,
      verificationRequired: request.requireVerification,
    },
  };
  await context.store.transact(async (tx) => {
    if ((await rekeyCeremonies.find(tx, context.kind)) !== undefined)
      refuse('rekey already in progress');
    rekeyCeremonies.write(tx, context.kind, attempt);
  });
  return attempt;
};

export const giveRekeyShare = async (
  context: RekeyContext,
  { key, nonce }: GiveShare,
): Promise<RekeyOutcome> => {
  await requireKind(context);
  if (key === '') refuse("'key' must be specified in request body as JSON");
  const share = parseShare(key);
  const fresh = newKey();
  const publicKey = publicShareKey(fresh);
  const outcome = await context.seal.replacingRootKey(async (tx, newRootKey) => {
    const before = await requireAttempt(context, tx);
    if (before.purpose.pending !== undefined) {
      refuse('rekey operation already finished; verification must be performed');
    }
    const set = await context.seal.shareSet(tx);
    const attempt = withShare(before, { nonce, share, set }, TEXTS);
    if (!isComplete(attempt)) {
      rekeyCeremonies.write(tx, context.kind, attempt);
      return { attempt, handed: undefined };
    }
    if (!(await context.seal.acceptsShares(sharesOf(attempt)))) {
      rekeyCeremonies.write(tx, context.kind, withProvenShares(attempt, set));
      return undefined;
    }
    const { purpose } = attempt;
    const shares = await splitKey(fresh, purpose);
    const fingerprints = fingerprintsOf(shares);
    const handed = await handOut(shares, purpose.pgpKeys);
    writeBackup(context, tx, attempt, handed);
    if (!purpose.verificationRequired) {
      await apply(context, tx, { ...purpose, fingerprints }, publicKey, newRootKey);
      return { attempt, handed };
    }
    // The present shares stay valid until the new ones are verified.
    await context.seal.learnShares(tx, sharesOf(attempt));
    const key = Buffer.from(publicKey).toString('base64');
    const waiting = withVerification(context, { ...attempt, shares: [] }, { key, fingerprints });
    rekeyCeremonies.write(tx, context.kind, waiting);
    return { attempt: waiting, handed };
  });
  fresh.fill(0);
  return outcome ?? refuse('rekey failed, invalid key shares');
};

export const cancelRekey = (
  { store, seal, kind, clock }: RekeyContext,
  by: Cancellation,
): Promise<void> =>
  store.transact(async (tx) => {
    const attempt = await rekeyCeremonies.find(tx, kind);
    if (attempt === undefined) return;
    requireCancellable(attempt, by, { set: await seal.shareSet(tx), nowMs: clock.nowMs() });
    rekeyCeremonies.delete(tx, kind);
  });

/** Accepts one of the new shares; `complete` is true once the new shares have taken effect. */
export const verifyRekey = async (
  context: RekeyContext,
  { key, nonce }: GiveShare,
): Promise<{ readonly attempt: RekeyAttempt; readonly complete: boolean }> => {
  await requireKind(context);
  if (key === '') refuse("'key' must be specified in request body as JSON");
  const share = parseShare(key);
  const outcome = await context.seal.replacingRootKey(async (tx, newRootKey) => {
    const attempt = await requireAttempt(context, tx);
    const { pending } = attempt.purpose;
    if (pending === undefined) return refuse('no rekey verification in progress');
    const set = newSet(attempt.purpose, pending);
    const stage = { ...attempt, nonce: pending.nonce, shares: pending.shares };
    const given = withShare(stage, { nonce, share, set }, VERIFY_TEXTS);
    const withGiven = (shares: readonly string[]): RekeyAttempt => ({
      ...attempt,
      purpose: { ...attempt.purpose, pending: { ...pending, shares } },
    });
    if (!isComplete(given)) {
      const next = withGiven(given.shares);
      rekeyCeremonies.write(tx, context.kind, next);
      return { attempt: next, complete: false };
    }
    const joined = await joinShares(sharesOf(given), given.required);
    const wanted = Uint8Array.from(Buffer.from(pending.key, 'base64'));
    const isWanted =
      joined?.length === KEY_BYTES && timingSafeEqual(publicShareKey(joined), wanted);
    if (!isWanted) {
      rekeyCeremonies.write(tx, context.kind, withGiven(withProvenShares(given, set).shares));
      return undefined;
    }
    await apply(context, tx, set, wanted, newRootKey);
    return { attempt: withGiven(given.shares), complete: true };
  });
  return outcome ?? refuse('rekey verification failed; incorrect root key supplied');
};

/** Discards the shares given for verification and issues a new nonce. */
export const restartRekeyVerification = (context: RekeyContext, by: Cancellation): Promise<void> =>
  context.store.transact(async (tx) => {
    const attempt = await requireAttempt(context, tx);
    const { pending } = attempt.purpose;
    if (pending === undefined) return;
    const set = newSet(attempt.purpose, pending);
    requireCancellable(pending, by, { set, nowMs: context.clock.nowMs() });
    rekeyCeremonies.write(tx, context.kind, withVerification(context, attempt, pending));
  });

export const findRekeyBackup = ({ store, kind }: RekeyContext): Promise<RekeyBackup | undefined> =>
  rekeyBackups.find(store, kind);

export const deleteRekeyBackup = ({ store, kind }: RekeyContext): Promise<void> =>
  store.transact((tx) => rekeyBackups.delete(tx, kind));
