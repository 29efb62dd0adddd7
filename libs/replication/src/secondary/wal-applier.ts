/**
 * Follows the primary's stream and applies its entries in order. An entry and the position in
 * the log are one commit, so a crash at any moment neither loses nor repeats an entry.
 */
import type { Bus } from '@keelson/bus';
import { KeelsonError } from '@keelson/errors';
import type { Fence, Store, WalEntry } from '@keelson/storage';
import type { ReplicationKind } from '../domain/crossing.ts';
import { requireNoNewerPrimary } from '../domain/software-version.ts';
import { inGroups } from '../in-groups.ts';
import { openBatch, PartAssembler, type SealedBatch } from '../wire/stream-message.ts';
import { type DecodedBatch, decodeBatch } from '../wire/wal-batch.ts';
import type { KnownPromotion } from './known-promotion.ts';
import type { PrimaryLink } from './primary-link.ts';

const GROUP_BYTES = 2 * 1024 * 1024;
const AHEAD_BYTES = 8 * 1024 * 1024;
/** Errors when the stream does not continue the applied entries, so that records must be compared. */
export const BROKEN_STREAM = [
  'replication.log_broken',
  'bus.messages_pruned',
  'bus.position_ahead',
  'storage.wal_diverged',
] as const;

export interface WalApplierOptions {
  readonly store: Store;
  readonly bus: Bus;
  readonly kind: ReplicationKind;
  readonly stream: string;
  readonly logId: string;
  /** Version of the software of this cluster. */
  readonly version: string;
  readonly fence: Fence;
  readonly promotion: Pick<KnownPromotion, 'accept'>;
  readonly epochKeys: Pick<PrimaryLink, 'epochKey' | 'storeEpochKey'>;
  /**
   * Called before entries are applied, to obtain the keys under which they are encrypted. @param
   * wrappedKeyring the newest keyring that arrived with them
   */
  readonly beforeApplying: (
    entries: readonly WalEntry[],
    wrappedKeyring: Uint8Array | undefined,
  ) => Promise<void>;
  /** Called when entries up to this one are on disk; `bytes` were received for them. */
  readonly onApplied: (sequence: number, bytes: number) => void;
}

/**
 * Applies until `signal` aborts.
 * @throws KeelsonError `replication.log_broken`, `bus.messages_pruned`, `bus.position_ahead` when the
 *   stream does not continue the applied entries; `replication.undecryptable`, `replication.not_admitted`,
 *   `replication.newer_primary`, `replication.superseded_primary`
 */
export const applyStream = async (
  options: WalApplierOptions,
  signal: AbortSignal,
): Promise<void> => {
  const { store, bus, stream, logId, fence, epochKeys, beforeApplying, onApplied } = options;
  const position = await store.appliedPosition(logId);
  if (position === undefined) throw new KeelsonError('replication.log_broken', { sequence: 0 });
  let { sequence } = position;
  const assembler = new PartAssembler();
  const messages = inGroups((ending) => bus.consume(stream, position.cursor, ending), signal, {
    sizeOf: ({ payload }) => payload.length,
    maxGroupSize: GROUP_BYTES,
    maxWaitingSize: AHEAD_BYTES,
  });
  for await (const group of messages) {
    const entries: WalEntry[] = [];
    let cursor = 0;
    let bytes = 0;
    let wrappedKeyring: Uint8Array | undefined;
    for (const message of group) {
      bytes += message.payload.length;
      const batch = assembler.add(message);
      if (batch === undefined) continue;
      cursor = batch.streamSequence;
      await epochKeys.storeEpochKey(stream, batch.head.epoch, message.headers);
      const end = sequence + entries.length;
      const opened = await openEntries(options, batch, end);
      for (const entry of opened.entries) if (entry.sequence > end) entries.push(entry);
      wrappedKeyring = opened.wrappedKeyring ?? wrappedKeyring;
    }
    if (entries.length > 0) {
      await beforeApplying(entries, wrappedKeyring);
      await store.applyEntries(logId, entries, { fence, cursor });
      sequence += entries.length;
    }
    onApplied(sequence, bytes);
  }
};

const openEntries = async (
  { stream, logId, version, kind, epochKeys, promotion }: WalApplierOptions,
  batch: SealedBatch,
  sequence: number,
): Promise<DecodedBatch> => {
  const { head } = batch;
  if (head.logId !== logId || head.first > sequence + 1)
    throw new KeelsonError('replication.log_broken', { sequence });
  const decoded = decodeBatch(kind, openBatch(stream, batch, await epochKeys.epochKey(head.epoch)));
  requireNoNewerPrimary(decoded.primaryVersion, version);
  await promotion.accept(decoded.promotion);
  const { entries } = decoded;
  if (
    entries.length !== head.last - head.first + 1 ||
    entries.some((entry, index) => entry.sequence !== head.first + index)
  )
    throw new KeelsonError('replication.malformed', { reason: 'entries that do not follow' });
  return decoded;
};
