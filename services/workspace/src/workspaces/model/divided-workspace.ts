import type { RecordCollection, Transaction } from '@keelson/storage';
import type { Workspace } from './domain/workspace.ts';
import { workspaceRecords } from './workspace-records.ts';

/** Summaries about a workspace that the modules of states and of runs write. */
type Part = 'state' | 'runs';

/**
 * Stores a part of a workspace, within its record for as long as processes may run that look for it there.
 * @param records the collection of the part, keyed by `ws-…`
 * @returns the workspace, which the caller writes unless it is the same
 */
export const storePart = <Name extends Part>(
  tx: Transaction,
  workspace: Workspace,
  name: Name,
  records: RecordCollection<Required<Workspace>[Name]>,
  value: Required<Workspace>[Name],
): Workspace => {
  if (!tx.writesNewest(workspaceRecords.codec)) return { ...workspace, [name]: value };
  records.write(tx, [workspace.id], value);
  const { [name]: former, ...divided } = workspace;
  return former === undefined ? workspace : (divided as Workspace);
};
