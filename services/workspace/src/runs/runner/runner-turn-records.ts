/** The turns of organizations at the built-in runner, so that one with many runs does not keep others waiting. */

import { collection, type Reads, readableOnly, type Transaction } from '@keelson/storage';
import { Type } from 'typebox';

/** Organization id -> its last turn; a later turn is a larger number. */
const turnsShape = Type.Record(Type.String(), Type.Number());

/** One record, with the key "organizations". */
const runnerTurns = collection('runner-turns', { scope: 'shared', version: 1, shape: turnsShape });
const KEY = 'organizations';

/** After this long without a turn, an organization ranks like one that never had any. */
const REMEMBERED_MS = 3_600_000;

/** Organizations that have had no turn lately come first, then those whose turn was longest ago. */
export const inTurn = async (
  reads: Reads,
  organizationIds: readonly string[],
): Promise<readonly string[]> => {
  const turns = new Map(Object.entries((await runnerTurns.find(readableOnly(reads), KEY)) ?? {}));
  return organizationIds.toSorted((a, b) => (turns.get(a) ?? 0) - (turns.get(b) ?? 0));
};

export const recordTurn = async (
  tx: Transaction,
  organizationId: string,
  nowMs: number,
): Promise<void> => {
  const turns = Object.entries((await runnerTurns.find(readableOnly(tx), KEY)) ?? {});
  // Orders turns of the same millisecond, or from clocks that differ.
  const turn = Math.max(nowMs, ...turns.map(([, last]) => last + 1));
  const kept = turns.filter(([id, last]) => id !== organizationId && last > turn - REMEMBERED_MS);
  runnerTurns.write(tx, [KEY], Object.fromEntries([...kept, [organizationId, turn]]));
};
