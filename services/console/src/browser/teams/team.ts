/** Teams of the workspace API, and the rights that a team may have on a whole organization. */
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import type { ResourceId } from '../api/workspaces-api.ts';

export type Team = ResourceAttributes['teams'];

export type User = ResourceAttributes['users'];

/** The team that may do everything; it cannot be changed or deleted. */
export const OWNERS = 'owners';

type Rights = Team['organization-access'];

/** Words of the organization-wide rights, in the order in which they are shown; the compiler misses none. */
const RIGHTS: Readonly<Record<keyof Rights, string>> = {
  'manage-workspaces': 'every workspace: create, change, delete',
  'manage-projects': 'every project with its workspaces',
  'manage-teams': 'teams: create, change, delete',
  'manage-organization-access': 'the rights of teams on the whole organization',
  'manage-membership': 'members of the organization and of teams',
  'access-secret-teams': 'see teams that are secret',
  'manage-vcs-settings': 'version control and SSH keys',
  'manage-agent-pools': 'agent pools',
  'manage-policies': 'policies',
  'manage-policy-overrides': 'override failed policies',
  'delegate-policy-overrides': 'let others override failed policies',
  'manage-run-tasks': 'run tasks',
  'manage-modules': 'modules of the registry',
  'manage-providers': 'providers of the registry',
  'read-workspaces': 'see every workspace',
  'read-projects': 'see every project',
};

/** The rights that the API names, with words; one that has no words here has its name. */
export const rightsWithWords = (
  names: readonly string[],
): readonly (readonly [name: string, words: string])[] => {
  const known = Object.entries(RIGHTS);
  return [
    ...known.filter(([name]) => names.includes(name)),
    ...names.filter((name) => !(name in RIGHTS)).map((name) => [name, name] as const),
  ];
};

/** The rights of a team in words. */
export const rightsInWords = ({ name, 'organization-access': access }: Team): string =>
  name === OWNERS
    ? 'everything in the organization'
    : rightsWithWords(
        Object.entries(access)
          .filter(([, isGiven]) => isGiven)
          .map(([right]) => right),
      )
        .map(([, words]) => words)
        .join('; ') || 'no right on the whole organization';

export const rightsIn = (isChecked: (name: string) => boolean): Rights =>
  Object.fromEntries(Object.keys(RIGHTS).map((name) => [name, isChecked(name)])) as Rights;

/** The rights of a new team. */
export const NO_RIGHTS = rightsIn(() => false);

export const teamBody = (name: string, rights: Partial<Rights>): object => ({
  data: { type: 'teams', attributes: { name, 'organization-access': rights } },
});

/** Names a user as a member, to add or to remove. */
export const memberBody = (username: string): { readonly data: readonly ResourceId[] } => ({
  data: [{ type: 'users', id: username }],
});
