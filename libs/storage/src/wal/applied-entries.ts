/** How far the log of another store was applied: a record beside what was applied, in the same commit. */
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

/** Those after `applied`. The first of all logs may start anywhere: it follows a copy of the records. */
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
