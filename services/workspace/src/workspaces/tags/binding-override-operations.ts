/** Refuses bindings that override a locked reserved key which the workspace's project binds. */
import { refuseInvalid } from '@keelson/jsonapi';
import type { Transaction } from '@keelson/storage';
import type { Project } from '../model/domain/project.ts';
import type { Workspace } from '../model/domain/workspace.ts';
import { projectRecords } from '../model/project-records.ts';
import { workspaceRecords } from '../model/workspace-records.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import { toLockedKeys } from './domain/reserved-key.ts';
import { loadReservedKeys } from './reserved-key-records.ts';

/**
 * Called before a workspace gets these bindings, or moves to this project with them.
 * @param pointer to the part of the request at fault: the bindings, or the project of a move
 * @throws KeelsonError `jsonapi.invalid_attribute`
 */
export const announceBindings = async (
  tx: Transaction,
  workspace: Workspace,
  pointer: string,
): Promise<void> => {
  const { id, organizationId, projectId, tagBindings } = workspace;
  if (tagBindings.length === 0) return;
  // A concurrent search for overriding workspaces of the project conflicts with it, and runs again.
  workspaceRecords.by.projectId.touch(tx, id, workspace);
  const locked = toLockedKeys(await loadReservedKeys(tx, organizationId));
  if (locked.size === 0) return;
  const project = await projectRecords.find(tx, projectId);
  const inherited = new Set(project?.tagBindings.map(({ key }) => key));
  refuseInvalid(
    tagBindings
      .filter(({ key }) => locked.has(key) && inherited.has(key))
      .map(({ key }) => ({
        pointer,
        text: `the key ${key} is reserved, and bound by the project of the workspace`,
      })),
  );
};

/** The given keys that some workspace of the project binds itself. */
export const findOverridden = async (
  { listing }: WorkspacesContext,
  tx: Transaction,
  { id, organizationId }: Pick<Project, 'id' | 'organizationId'>,
  keys: readonly string[],
): Promise<readonly string[]> => {
  if (keys.length === 0) return [];
  // Reads the index because a transaction watches it, unlike the projection.
  await workspaceRecords.by.projectId.keys(tx, id, { limit: 1 });
  const found = await Promise.all(
    keys.map((key) =>
      listing.find({
        organizationId,
        projectId: id,
        tags: [],
        ownKeys: [key],
        excludeTags: [],
        tagged: [],
        runStatuses: [],
        page: { number: 1, size: 1 },
      }),
    ),
  );
  return keys.filter((_, at) => (found[at]?.totalCount ?? 0) > 0);
};

/**
 * Refuses bindings of a project that its workspaces override although the key is locked.
 * @throws KeelsonError `jsonapi.invalid_attribute`
 */
export const requireNotOverridden = async (
  context: WorkspacesContext,
  tx: Transaction,
  project: Project,
  pointer: string,
): Promise<void> => {
  const locked = toLockedKeys(await loadReservedKeys(tx, project.organizationId));
  const keys = project.tagBindings.map(({ key }) => key).filter((key) => locked.has(key));
  const overridden = await findOverridden(context, tx, project, keys);
  refuseInvalid(
    overridden.map((key) => ({
      pointer,
      text: `the key ${key} is reserved, and bound by workspaces of the project`,
    })),
  );
};
