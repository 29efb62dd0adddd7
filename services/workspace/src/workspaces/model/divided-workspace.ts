import { isDeepStrictEqual } from 'node:util';
import type { RecordCollection, Transaction } from '@keelson/storage';
import type { Workspace } from './domain/workspace.ts';
import { workspaceRecords } from './workspace-records.ts';

/**
 * The lock of a workspace, and summaries that the modules of states and of runs write, with the version of the workspace
 * from which each is in a record of its own.
 */
const DIVIDED_IN = {
  state: 2,
  runs: 3,
  assessments: 3,
  locking: 4,
  autoDestroyed: 4,
  configuration: 4,
  variables: 4,
} as const;

type Part = keyof typeof DIVIDED_IN;

/**
 * Stores a part of a workspace, within its record for as long as processes may run that look for it there.
 * @param records the collection of the part, keyed by `ws-…`
 * @param initial the meaning of an absent part; a workspace does not contain such a value
 * @returns the workspace, which the caller writes unless it is the same
 */
export const storePart = <Name extends Part>(
  tx: Transaction,
  workspace: Workspace,
  name: Name,
  records: RecordCollection<Required<Workspace>[Name]>,
  value: Required<Workspace>[Name],
  initial?: Required<Workspace>[Name],
): Workspace => {
  const { kind } = workspaceRecords.codec;
  const { [name]: former, ...others } = workspace;
  const divided = former === undefined ? workspace : (others as Workspace);
  if (tx.writesVersion(kind, DIVIDED_IN[name])) {
    records.write(tx, [workspace.id], value);
    return divided;
  }
  return isDeepStrictEqual(value, initial) ? divided : { ...workspace, [name]: value };
};
