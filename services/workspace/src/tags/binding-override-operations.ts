/** Where a workspace may not bind a key of its own: it is reserved so, and its project binds it. */
import { refuseInvalid } from '@keelson/jsonapi';
import type { Reads } from '@keelson/storage';
import type { Project } from '../projects/domain/project.ts';
import { projectRecords } from '../projects/project-records.ts';
import type { ServiceContext } from '../service-context.ts';
import type { Workspace } from '../workspaces/domain/workspace.ts';
import { toLockedKeys } from './domain/reserved-key.ts';
import { loadReservedKeys } from './reserved-key-records.ts';

/**
 * @param pointer to what the request is about: the bindings, or the project of a move
 * @throws KeelsonError `jsonapi.invalid_attribute`
 */
export const requireNoOverride = async (
  reads: Reads,
  { organizationId, projectId, tagBindings }: Workspace,
  pointer: string,
): Promise<void> => {
  if (tagBindings.length === 0) return;
  const locked = toLockedKeys(await loadReservedKeys(reads, organizationId));
  if (locked.size === 0) return;
  const project = await projectRecords.find(reads, projectId);
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
  { id, organizationId }: Pick<Project, 'id' | 'organizationId'>,
  keys: readonly string[],
): Promise<readonly string[]> => {
  const found = await Promise.all(
    keys.map((key) =>
      listing.find({
        organizationId,
        projectId: id,
        tags: [key],
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
  reads: Reads,
  project: Project,
  pointer: string,
): Promise<void> => {
  const locked = toLockedKeys(await loadReservedKeys(reads, project.organizationId));
  const keys = project.tagBindings.map(({ key }) => key).filter((key) => locked.has(key));
  const overridden = await findOverridden(context, project, keys);
  refuseInvalid(
    overridden.map((key) => ({
      pointer,
      text: `the key ${key} is reserved, and bound by workspaces of the project`,
    })),
  );
};
