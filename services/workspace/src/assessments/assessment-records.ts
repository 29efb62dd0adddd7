import type { Transaction } from '@keelson/storage';
import { keyedRecords } from '../records/keyed-records.ts';
import type { Workspace } from '../workspaces/domain/workspace.ts';

/** Workspaces whose own settings enable assessments, keyed by `ws-…`: the worker looks at no others. */
export const assessedWorkspaces = keyedRecords<Record<never, never>>('shared/assessed-workspaces/');

/** @param before undefined: the workspace is new */
export const noteAssessed = (
  tx: Transaction,
  before: Workspace | undefined,
  { id, settings }: Workspace,
): void => {
  const was = before?.settings.assessmentsEnabled ?? false;
  if (settings.assessmentsEnabled === was) return;
  if (was) assessedWorkspaces.delete(tx, id);
  else assessedWorkspaces.write(tx, [id], {});
};
