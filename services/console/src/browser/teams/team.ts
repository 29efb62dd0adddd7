/** Teams of the workspace API, and the rights that a team may have on a whole organization. */
import type { ResourceId } from '../api/workspaces-api.ts';

export interface Team {
  readonly name: string;
  readonly visibility: string;
  readonly 'users-count': number;
  readonly 'organization-access': Readonly<Record<string, boolean>>;
  readonly permissions: {
    readonly 'can-update-membership': boolean;
    readonly 'can-destroy': boolean;
    readonly 'can-update-organization-access': boolean;
  };
}

export interface User {
  readonly username: string;
}

/** The team that may do everything; it cannot be changed or deleted. */
export const OWNERS = 'owners';

/** Organization-wide permissions that the form offers. */
export const RIGHTS = [
  ['manage-workspaces', 'every workspace: create, change, delete'],
  ['manage-projects', 'every project with its workspaces'],
  ['manage-policies', 'policies'],
  ['manage-membership', 'teams and members'],
  ['manage-agent-pools', 'agent pools'],
  ['read-workspaces', 'see every workspace'],
  ['read-projects', 'see every project'],
] as const;

/** The rights of a team in words. */
export const rightsInWords = ({ name, 'organization-access': access }: Team): string =>
  name === OWNERS
    ? 'everything in the organization'
    : RIGHTS.filter(([right]) => access[right] === true)
        .map(([, words]) => words)
        .join('; ') || 'no right on the whole organization';

export const rightsIn = (isChecked: (name: string) => boolean): Record<string, boolean> =>
  Object.fromEntries(RIGHTS.map(([name]) => [name, isChecked(name)]));

export const teamBody = (name: string, rights: Readonly<Record<string, boolean>>): object => ({
  data: { type: 'teams', attributes: { name, 'organization-access': rights } },
});

/** Names a user as a member, to add or to remove. */
export const memberBody = (username: string): { readonly data: readonly ResourceId[] } => ({
  data: [{ type: 'users', id: username }],
});
