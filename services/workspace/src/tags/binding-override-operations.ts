/** Where a workspace may not bind a key of its own: it is reserved so, and its project binds it. */
import { refuseInvalid } from '@keelson/jsonapi';
import type { Transaction } from '@keelson/storage';
import type { Project } from '../projects/domain/project.ts';
import { projectRecords } from '../projects/project-records.ts';
import type { ServiceContext } from '../service-context.ts';
import type { Workspace } from '../workspaces/domain/workspace.ts';
import { projectWorkspaces } from '../workspaces/workspace-records.ts';
import { toLockedKeys } from './domain/reserved-key.ts';
import { loadReservedKeys } from './reserved-key-records.ts';

/**
 * Before a workspace takes these bindings, or takes them into this project.
 * @param pointer to what the request is about: the bindings, or the project of a move
 * @throws KeelsonError `jsonapi.invalid_attribute`
 */
export const announceBindings = async (
  tx: Transaction,
  { id, organizationId, projectId, tagBindings }: Workspace,
  pointer: string,
): Promise<void> => {
  if (tagBindings.length === 0) return;
  // Who looks for workspaces of the project that bind a key at the same moment looks again.
  projectWorkspaces.write(tx, [projectId, id], {});
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

/** Those of the keys that some workspace of the project binds of its own. */
export const findOverridden = async (
  { listing }: ServiceContext,
  tx: Transaction,
  { id, organizationId }: Pick<Project, 'id' | 'organizationId'>,
  keys: readonly string[],
): Promise<readonly string[]> => {
  if (keys.length === 0) return [];
  // What is listed is watched, as the projection is not.
  await projectWorkspaces.keys(tx, [id], { limit: 1 });
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
 * Bindings that a project is given are none that its workspaces override and may not.
 * @throws KeelsonError `jsonapi.invalid_attribute`
 */
export const requireNotOverridden = async (
  context: ServiceContext,
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
