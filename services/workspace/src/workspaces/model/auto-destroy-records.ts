import { collection, type Reads, type Transaction } from '@keelson/storage';
import { storePart } from './divided-workspace.ts';
import {
  type AutoDestroyOutcome,
  autoDestroyOutcomeShape,
  type Workspace,
} from './domain/workspace.ts';

/** Outcomes of the last auto-destroy that was due, keyed by `ws-…`. */
export const autoDestroyOutcomes = collection('auto-destroy-outcomes', {
  scope: 'shared',
  version: 1,
  shape: autoDestroyOutcomeShape,
  owner: { kind: 'workspace', by: '*', isKey: true },
});

/**
 * @returns null before the first
 * @throws KeelsonError the same as `RecordCollection.find`
 */
export const findAutoDestroyOutcome = async (
  reads: Pick<Reads, 'readAs'>,
  { id, autoDestroyed }: Workspace,
): Promise<AutoDestroyOutcome | null> =>
  autoDestroyed ?? (await autoDestroyOutcomes.find(reads, id)) ?? null;

/** Stores the outcome. @returns see `storePart` */
export const storeAutoDestroyOutcome = (
  tx: Transaction,
  workspace: Workspace,
  outcome: AutoDestroyOutcome,
): Workspace => storePart(tx, workspace, 'autoDestroyed', autoDestroyOutcomes, outcome);
