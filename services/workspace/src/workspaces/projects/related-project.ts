import type { Resource } from '@keelson/jsonapi';
import type { Reads } from '@keelson/storage';
import type { OrganizationAccessResult } from '../../identity/access/organization-access-operations.ts';
import { findReadableProject } from '../access/access-operations.ts';
import { toProjectResource } from './project-document.ts';

/** A project that another resource of its organization names; undefined where the caller may not read it. */
export const loadRelatedProject = async (
  reads: Reads,
  owner: OrganizationAccessResult,
  id: string,
): Promise<Resource | undefined> => {
  const project = await findReadableProject(reads, owner, id);
  return project && toProjectResource({ project, organization: owner.organization });
};
