import { derivedId } from '../../../base/derived-id.ts';

/**
 * Id of an organization's flat tag. It is derived from organization and name, so that two workspaces that
 * create the same tag at once need no coordination.
 */
export const toTagId = (organizationId: string, name: string): string =>
  derivedId('tag', organizationId, name);
