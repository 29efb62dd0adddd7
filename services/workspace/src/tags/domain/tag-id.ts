import { derivedId } from '../../workspaces/domain/derived-id.ts';

/**
 * Id of an organization's flat tag. It follows from organization and name, so two workspaces that take
 * up the same new tag at once need not agree on who makes it.
 */
export const toTagId = (organizationId: string, name: string): string =>
  derivedId('tag', organizationId, name);
