/**
 * New key shares for the same root key. With verification the new shares must be given back once before
 * they replace the old ones, so that shares lost on their way lock nobody out.
 */
import { randomUUID, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import type { Store, Transaction } from '@keelson/storage';
import {
  type Ceremony,
  isComplete,
  requireCancellable,
  sharesOf,
  withShare,
} from './domain/ceremony.ts';
import { requireShareCounts, type ShareCounts } from './domain/share-counts.ts';
import { parseShare } from './domain/share-text.ts';
import { joinShares, splitKey } from './key-shares.ts';
import { wrapRootKey } from './root-key-wrap.ts';
import { newKey, type Seal } from './seal.ts';
import {
  type RekeyPurpose,
  rekeyBackups,
  rekeyCeremonies,
  SEAL_KEY,
  SHARE_SEAL_KEY,
  sealRecords,
  shareSealRecords,
} from './seal-records.ts';
import { checkPgpKeys, type HandedShares, handOut } from './sealed-shares.ts';

export type RekeyAttempt = Ceremony<RekeyPurpose>;

interface RekeyRequest extends ShareCounts {
  readonly pgpKeys: readonly string[];
  readonly backup: boolean;
  readonly requireVerification: boolean;
}

/** What an update made: progress, or with `handed` the end of the first stage. */
export interface RekeyOutcome {
  readonly attempt: RekeyAttempt;
  readonly handed: HandedShares | undefined;
}

type Cancel = { readonly nonce: string; readonly isSudo: boolean };
type GiveShare = { readonly key: string; readonly nonce: string };

export interface RekeyOperations {
  status(): Promise<RekeyAttempt | undefined>;
  /** Shares needed for an attempt that would start now. */
  required(): Promise<number>;
  start(request: RekeyRequest): Promise<RekeyAttempt>;
  update(request: GiveShare): Promise<RekeyOutcome>;
  cancel(by: Cancel): Promise<void>;
  /** One of the new shares; true when the new shares took effect. */
  verify(
    request: GiveShare,
  ): Promise<{ readonly attempt: RekeyAttempt; readonly complete: boolean }>;
  /** Forgets the shares given for verification and issues a new nonce. */
  restartVerification(by: Cancel): Promise<void>;
  findBackup(): Promise<
    | { readonly nonce: string; readonly keys: Readonly<Record<string, readonly string[]>> }
    | undefined
  >;
  deleteBackup(): Promise<void>;
}

const TEXTS = { name: 'rekey', short: 'rekey' };
const VERIFY_TEXTS = { name: 'rekey verification', short: 'rekey verification' };

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/**
 * @param kind `barrier`: shares that open the seal; `recovery`: shares of a static seal
 */
export const createRekeyOperations = ({
  store,
  seal,
  clock,
  kind,
  followsPrimary,
}: {
  readonly store: Store;
  readonly seal: Seal;
  readonly clock: Clock;
  readonly kind: 'barrier' | 'recovery';
  /** Its shares are those of another cluster. */
  readonly followsPrimary: () => boolean;
}): RekeyOperations => {
  const sealType = kind === 'barrier' ? 'shamir' : 'static';

  const requireKind = async (): Promise<void> => {
    seal.requireRootKey();
    if (followsPrimary())
      refuse('the key shares of this cluster are those of its primary: rekey there');
    if ((await seal.record())?.type !== sealType) {
      refuse(
        kind === 'barrier'
          ? 'rekeying of barrier not supported with a static seal; rekey the recovery key'
          : 'recovery rekeying not supported',
      );
    }
  };

  const requireAttempt = async (tx: Transaction): Promise<RekeyAttempt> =>
    (await rekeyCeremonies.find(tx, kind)) ?? refuse('no rekey configuration found');

  /** Makes `newKey` the key that is split. */
  const apply = async (tx: Transaction, counts: ShareCounts, key: Uint8Array): Promise<void> => {
    const record = await sealRecords.find(tx, SEAL_KEY);
    if (record === undefined) throw new KeelsonError('sys.not_initialized');
    const { shares, threshold } = counts;
    const wrappedForShares = wrapRootKey(key, seal.requireRootKey());
    shareSealRecords.write(tx, SHARE_SEAL_KEY, { shares, threshold, wrappedForShares });
    sealRecords.write(tx, SEAL_KEY, { ...record, shares, threshold, wrappedForShares });
    rekeyCeremonies.delete(tx, kind);
  };

  /** Waits for the new shares from now on. */
  const withVerification = (attempt: RekeyAttempt, key: string): RekeyAttempt => {
    const pending = { nonce: randomUUID(), startedAtMs: clock.nowMs(), key, shares: [] };
    return { ...attempt, purpose: { ...attempt.purpose, pending } };
  };

  const writeBackup = (
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

  return {
    status: async () => rekeyCeremonies.find(store, kind),
    required: async () => (await seal.record())?.threshold ?? 0,

    start: async (request) => {
      await requireKind();
      const counts = requireShareCounts(request);
      if (request.backup && request.pgpKeys.length === 0) {
        refuse('cannot request a backup of the new keys without providing PGP keys for encryption');
      }
      const pgpFingerprints = await checkPgpKeys(request.pgpKeys, counts.shares, 'rekey');
      const required = (await seal.record())?.threshold ?? 0;
      const attempt: RekeyAttempt = {
        nonce: randomUUID(),
        startedAtMs: clock.nowMs(),
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
      await store.transact(async (tx) => {
        if ((await rekeyCeremonies.find(tx, kind)) !== undefined)
          refuse('rekey already in progress');
        rekeyCeremonies.write(tx, kind, attempt);
      });
      return attempt;
    },

    update: async ({ key, nonce }) => {
      await requireKind();
      if (key === '') refuse("'key' must be specified in request body as JSON");
      const share = parseShare(key);
      const fresh = newKey();
      const outcome = await store.transact(async (tx) => {
        const before = await requireAttempt(tx);
        if (before.purpose.pending !== undefined) {
          refuse('rekey operation already finished; verification must be performed');
        }
        const attempt = withShare(before, nonce, share, TEXTS);
        if (!isComplete(attempt)) {
          rekeyCeremonies.write(tx, kind, attempt);
          return { attempt, handed: undefined };
        }
        if (!(await seal.acceptsShares(sharesOf(attempt)))) {
          rekeyCeremonies.write(tx, kind, { ...attempt, shares: [] });
          return undefined;
        }
        const { purpose } = attempt;
        const handed = await handOut(await splitKey(fresh, purpose), purpose.pgpKeys);
        writeBackup(tx, attempt, handed);
        if (!purpose.verificationRequired) {
          await apply(tx, purpose, fresh);
          return { attempt, handed };
        }
        const key = Buffer.from(fresh).toString('base64');
        const waiting = withVerification({ ...attempt, shares: [] }, key);
        rekeyCeremonies.write(tx, kind, waiting);
        return { attempt: waiting, handed };
      });
      fresh.fill(0);
      return outcome ?? refuse('rekey failed, invalid key shares');
    },

    cancel: ({ nonce, isSudo }) =>
      store.transact(async (tx) => {
        const attempt = await rekeyCeremonies.find(tx, kind);
        if (attempt === undefined) return;
        requireCancellable(attempt, { nonce, isSudo, nowMs: clock.nowMs() });
        rekeyCeremonies.delete(tx, kind);
      }),

    verify: async ({ key, nonce }) => {
      await requireKind();
      if (key === '') refuse("'key' must be specified in request body as JSON");
      const share = parseShare(key);
      const outcome = await store.transact(async (tx) => {
        const attempt = await requireAttempt(tx);
        const { pending } = attempt.purpose;
        if (pending === undefined) return refuse('no rekey verification in progress');
        const stage = {
          ...attempt,
          nonce: pending.nonce,
          shares: pending.shares,
          required: attempt.purpose.threshold,
        };
        const given = withShare(stage, nonce, share, VERIFY_TEXTS);
        const withGiven = (shares: readonly string[]): RekeyAttempt => ({
          ...attempt,
          purpose: { ...attempt.purpose, pending: { ...pending, shares } },
        });
        if (!isComplete(given)) {
          const next = withGiven(given.shares);
          rekeyCeremonies.write(tx, kind, next);
          return { attempt: next, complete: false };
        }
        const joined = await joinShares(sharesOf(given), given.required);
        const wanted = Uint8Array.from(Buffer.from(pending.key, 'base64'));
        if (joined?.length !== wanted.length || !timingSafeEqual(joined, wanted)) {
          rekeyCeremonies.write(tx, kind, withGiven([]));
          return undefined;
        }
        await apply(tx, attempt.purpose, wanted);
        return { attempt: withGiven(given.shares), complete: true };
      });
      return outcome ?? refuse('rekey verification failed; incorrect root key supplied');
    },

    restartVerification: ({ nonce, isSudo }) =>
      store.transact(async (tx) => {
        const attempt = await requireAttempt(tx);
        const { pending } = attempt.purpose;
        if (pending === undefined) return;
        requireCancellable(pending, { nonce, isSudo, nowMs: clock.nowMs() });
        rekeyCeremonies.write(tx, kind, withVerification(attempt, pending.key));
      }),

    findBackup: () => rekeyBackups.find(store, kind),
    deleteBackup: () => store.transact((tx) => rekeyBackups.delete(tx, kind)),
  };
};
