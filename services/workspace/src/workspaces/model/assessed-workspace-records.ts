import { collection, type Transaction } from '@keelson/storage';
import { Type } from 'typebox';
import type { Workspace } from './domain/workspace.ts';

/** Workspaces whose own settings enable assessments, keyed by `ws-…`. The worker reads only these. */
export const assessedWorkspaces = collection('assessed-workspaces', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({}),
});

/** @param before undefined for a new workspace */
export const recordAssessed = (
  tx: Transaction,
  before: Workspace | undefined,
  { id, settings }: Workspace,
): void => {
  const was = before?.settings.assessmentsEnabled ?? false;
  if (settings.assessmentsEnabled === was) return;
  if (was) assessedWorkspaces.delete(tx, id);
  else assessedWorkspaces.write(tx, [id], {});
};
