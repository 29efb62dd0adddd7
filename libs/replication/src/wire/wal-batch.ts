/** Consecutive log entries as bytes, without what does not cross. */
import { KeelsonError } from '@keelson/errors';
import { WalBatch } from '@keelson/proto/replication/v1/replication';
import { decodeOperations, encodeOperations, type WalEntry } from '@keelson/storage';
import { crosses, type ReplicationKind } from '../domain/crossing.ts';

export interface BatchExtras {
  /** Software of the primary. */
  readonly primaryVersion?: string | undefined;
  /** Promotion number of the primary; 0 if it founded the set. */
  readonly promotion?: number | undefined;
  /** Whether a path crosses to this secondary; absent when there is no filter. */
  readonly passes?: ((path: string) => boolean) | undefined;
  /** Keyring for values encrypted with a newer term than any before. */
  readonly wrappedKeyring?: Uint8Array | undefined;
}

export const encodeBatch = (
  kind: ReplicationKind,
  entries: readonly WalEntry[],
  {
    passes = () => true,
    wrappedKeyring = new Uint8Array(),
    primaryVersion = '',
    promotion = 0,
  }: BatchExtras = {},
): Uint8Array =>
  WalBatch.encode({
    wrappedKeyring: Buffer.from(wrappedKeyring),
    primaryVersion,
    promotion: BigInt(promotion),
    entries: entries.map(({ sequence, committedAtMs, operations }) => ({
      sequence: BigInt(sequence),
      committedAtMs: BigInt(committedAtMs),
      // The replaced value is omitted: each store determines its own.
      operations: Buffer.from(
        encodeOperations(
          operations
            .filter(({ path }) => crosses(kind, path) && passes(path))
            .map(({ path, stored }) => ({ path, stored })),
        ),
      ),
    })),
  }).finish();

export interface DecodedBatch {
  readonly primaryVersion: string;
  readonly promotion: number;
  readonly entries: readonly WalEntry[];
  /** Keyring to adopt before applying the entries; undefined if none is needed or the primary sent none. */
  readonly wrappedKeyring: Uint8Array | undefined;
}

/**
 * @throws KeelsonError `replication.malformed`, also for operations that must not cross: a primary
 *   cannot write node records
 */
export const decodeBatch = (kind: ReplicationKind, bytes: Uint8Array): DecodedBatch => {
  try {
    const { entries: encoded, wrappedKeyring, primaryVersion, promotion } = WalBatch.decode(bytes);
    const entries = encoded.map(({ sequence, committedAtMs, operations }) => {
      const decoded = decodeOperations(operations);
      if (!decoded.every(({ path }) => crosses(kind, path)))
        throw new KeelsonError('replication.malformed', { reason: 'a path that does not cross' });
      return {
        sequence: Number(sequence),
        committedAtMs: Number(committedAtMs),
        operations: decoded,
      };
    });
    return {
      primaryVersion,
      promotion: Number(promotion),
      entries,
      wrappedKeyring: wrappedKeyring.length === 0 ? undefined : wrappedKeyring,
    };
  } catch (error) {
    if (error instanceof KeelsonError && error.code === 'replication.malformed') throw error;
    throw new KeelsonError('replication.malformed', { reason: 'no log entries' }, { cause: error });
  }
};
