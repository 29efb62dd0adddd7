/** Consecutive log entries as bytes, without what does not cross. */
import { KeelsonError } from '@keelson/errors';
import { WalBatch } from '@keelson/proto/replication/v1/replication';
import { decodeOperations, encodeOperations, type WalEntry } from '@keelson/storage';
import { crosses, type ReplicationKind } from '../domain/crossing.ts';

/** @param passes what of it crosses to this secondary */
export const encodeBatch = (
  kind: ReplicationKind,
  entries: readonly WalEntry[],
  passes: (path: string) => boolean = () => true,
): Uint8Array =>
  WalBatch.encode({
    entries: entries.map(({ sequence, committedAtMs, operations }) => ({
      sequence: BigInt(sequence),
      committedAtMs: BigInt(committedAtMs),
      // What a write replaced is the business of each store.
      operations: Buffer.from(
        encodeOperations(
          operations
            .filter(({ path }) => crosses(kind, path) && passes(path))
            .map(({ path, stored }) => ({ path, stored })),
        ),
      ),
    })),
  }).finish();

/**
 * @throws KeelsonError `replication.malformed`, also for operations that must not cross: a primary
 *   cannot reach what is the node's own
 */
export const decodeBatch = (kind: ReplicationKind, bytes: Uint8Array): WalEntry[] => {
  try {
    return WalBatch.decode(bytes).entries.map(({ sequence, committedAtMs, operations }) => {
      const decoded = decodeOperations(operations);
      if (!decoded.every(({ path }) => crosses(kind, path)))
        throw new KeelsonError('replication.malformed', { reason: 'a path that does not cross' });
      return {
        sequence: Number(sequence),
        committedAtMs: Number(committedAtMs),
        operations: decoded,
      };
    });
  } catch (error) {
    if (error instanceof KeelsonError && error.code === 'replication.malformed') throw error;
    throw new KeelsonError('replication.malformed', { reason: 'no log entries' }, { cause: error });
  }
};
