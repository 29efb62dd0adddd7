/** Records of a page of a copy that this process could not read if they replaced its own. */
import { hasCode, isDamage, KeelsonError } from '@keelson/errors';
import type { Barrier } from '../barrier/barrier.ts';
import { findDeclaration } from '../collections/table.ts';
import { scopeOf } from '../records/record-path.ts';
import { decodeOperations } from '../wal/wal-codec.ts';

/**
 * A newer version of Keelson wrote it; it does not have the shape of its kind; or these keys do not decrypt it,
 * because another cluster encrypted it or it is damaged.
 */
export type UnreadableKind = 'newer' | 'damaged' | 'undecryptable';

export interface UnreadableRecord {
  readonly path: string;
  readonly kind: UnreadableKind;
  /** The fault, without the path or anything from the record. */
  readonly fault: string;
}

const toUnreadable = (path: string, error: unknown): UnreadableRecord => {
  if (hasCode(error, 'storage.newer_record')) {
    const { found, known } = error.params;
    return { path, kind: 'newer', fault: `it has version ${found}, and version ${known} is known` };
  }
  if (hasCode(error, 'storage.damaged_record'))
    return { path, kind: 'damaged', fault: String(error.params['fault']) };
  if (!isDamage(error)) throw error;
  return { path, kind: 'undecryptable', fault: 'it cannot be decrypted' };
};

/**
 * The first record of each kind that cannot be read. Encrypted records are not checked while the barrier is sealed,
 * and of those without a declaration only whether they can be decrypted. What is in a sealed record is unknown.
 * @throws KeelsonError `storage.damaged_copy`
 */
export const findUnreadable = (page: Uint8Array, barrier: Barrier): readonly UnreadableRecord[] => {
  const found = new Map<UnreadableKind, UnreadableRecord>();
  for (const { path, stored } of decodeOperations(page)) {
    if (stored === undefined) throw new KeelsonError('storage.damaged_copy');
    const isEncrypted = scopeOf(path) !== 'node';
    if (isEncrypted && barrier.isSealed) continue;
    try {
      const value = isEncrypted ? barrier.decrypt(path, stored) : stored;
      const declaration = findDeclaration(path);
      if (declaration?.isSealed !== true) declaration?.codec.decode(path, value);
    } catch (error) {
      const unreadable = toUnreadable(path, error);
      if (!found.has(unreadable.kind)) found.set(unreadable.kind, unreadable);
    }
  }
  return [...found.values()];
};
