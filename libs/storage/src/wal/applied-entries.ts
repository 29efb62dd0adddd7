/** Position up to which the log of another store was applied, written in the same commit as its entries. */
import { KeelsonError } from '@keelson/errors';
import type { AppliedPosition, Reads, Transaction, WalEntry } from '../store.ts';

const appliedPath = (source: string): string => `node/applied/${source}`;

export const findAppliedPosition = async (
  reads: Pick<Reads, 'read'>,
  source: string,
): Promise<AppliedPosition | undefined> => {
  const record = await reads.read(appliedPath(source));
  if (record === undefined) return undefined;
  const [sequence, cursor] = Buffer.from(record.value).toString().split(' ');
  return { sequence: Number(sequence), cursor: Number(cursor ?? 0) };
};

export const writeAppliedPosition = (
  tx: Transaction,
  source: string,
  { sequence, cursor }: AppliedPosition,
): void => tx.write(appliedPath(source), Buffer.from(`${sequence} ${cursor}`));

/** The entries after `applied`. After a copy of the records (`applied` is 0) they may start anywhere. */
export const decideFreshEntries = (
  entries: readonly WalEntry[],
  applied: number,
): readonly WalEntry[] => {
  const fresh = entries.filter(({ sequence }) => sequence > applied);
  let previous = applied === 0 ? (fresh[0]?.sequence ?? 1) - 1 : applied;
  for (const { sequence } of fresh) {
    if (sequence !== previous + 1)
      throw new KeelsonError('storage.wal_diverged', { sequence, headSequence: previous });
    previous = sequence;
  }
  return fresh;
};
