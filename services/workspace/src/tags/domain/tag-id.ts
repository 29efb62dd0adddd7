import { createHash } from 'node:crypto';

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/**
 * Id of an organization's flat tag. It follows from organization and name, so two workspaces that take
 * up the same new tag at once need not agree on who makes it.
 */
export const toTagId = (organizationId: string, name: string): string => {
  const digest = createHash('sha256').update(`${organizationId}/${name}`).digest();
  const characters = [...digest.subarray(0, 16)].map((byte) => BASE58[byte % BASE58.length]);
  return `tag-${characters.join('')}`;
};
