/** The actions that the search offers on what it finds: each only where the person may perform it. */

import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { callSecrets, listKeys } from '../api/secrets-api.ts';
import {
  callWorkspaces,
  type ListDocument,
  type OneDocument,
  type Resource,
} from '../api/workspaces-api.ts';
import {
  authorityAddress,
  bestMatches,
  type Found,
  inAuthorities,
  keep,
  organizations,
  type Search,
  type SearchSource,
} from './search-sources.ts';

type Workspace = Resource<ResourceAttributes['workspaces']>;

/** Words with which a person names an action before the name of a workspace. */
const VERBS = /^(?:lock|unlock|start(?: a)? run(?: in)?|start|run|plan)(?:\s+|$)/i;

/** Workspaces of an organization whose actions are offered. */
const MAX_WORKSPACES = 4;
const MAX_ACTIONS = 8;

const actionsOn = (organization: string, { id, attributes }: Workspace): readonly Found[] => {
  const { name, locked, permissions } = attributes;
  const address = `/app/${organization}/workspaces/${encodeURIComponent(name)}`;
  const all: readonly (readonly [isOffered: boolean, title: string, at: string])[] = [
    [
      permissions['can-queue-run'] && attributes['execution-mode'] !== 'local',
      `Start a run in ${name}`,
      `?tab=runs#start-run-${id}`,
    ],
    [!locked && permissions['can-lock'], `Lock ${name}`, `#lock-${id}`],
    [locked && permissions['can-unlock'], `Unlock ${name}`, `#unlock-${id}`],
  ];
  return all
    .filter(([isOffered]) => isOffered)
    .map(([, title, at]) => ({ title, more: organization, address: address + at }));
};

const onWorkspaces: SearchSource = {
  title: 'Actions on workspaces',
  needs: 'workspaces',
  find: async (search) => {
    const { text, signal } = search;
    const name = text.replace(VERBS, '');
    const { names } = await organizations(search);
    const found = await Promise.all(
      names.map(async (organization) => {
        const path = `organizations/${encodeURIComponent(organization)}/workspaces?search[name]=${encodeURIComponent(name)}&page[size]=${MAX_WORKSPACES}`;
        const { data } = await callWorkspaces<ListDocument<Workspace['attributes']>>('GET', path, {
          signal,
        });
        return data.flatMap((workspace) => actionsOn(organization, workspace));
      }),
    );
    return { found: bestMatches(found.flat(), text, [({ title }) => title]).slice(0, MAX_ACTIONS) };
  },
};

type Organization = ResourceAttributes['organizations'];

/** The organizations, as far as they are read, in which the person may create something. */
const inOrganizations: SearchSource = {
  title: 'Actions in organizations',
  needs: 'workspaces',
  find: async (search) => {
    const { names } = await organizations(search);
    const found = await Promise.all(
      names.map(async (organization): Promise<readonly Found[]> => {
        const { data } = await keep(search, `organization ${organization}`, () =>
          callWorkspaces<OneDocument<Organization>>(
            'GET',
            `organizations/${encodeURIComponent(organization)}`,
          ),
        );
        const { permissions } = data.attributes;
        return [
          ...(permissions['can-create-workspace']
            ? [
                {
                  title: `Create workspace in ${organization}`,
                  address: `/app/${organization}/workspaces#create-workspace`,
                },
              ]
            : []),
          ...(permissions['can-create-project']
            ? [
                {
                  title: `Create project in ${organization}`,
                  address: `/app/${organization}/projects#create-project`,
                },
              ]
            : []),
        ];
      }),
    );
    return { found: bestMatches(found.flat(), search.text, [({ title }) => title]) };
  },
};

/** The paths of those that the token may update. */
const allowedOf = async (search: Search, paths: readonly string[]): Promise<readonly string[]> => {
  if (paths.length === 0) return [];
  const { data } = await keep(search, `capabilities ${paths.join(' ')}`, () =>
    callSecrets<{ data: Readonly<Record<string, readonly string[]>> }>(
      'POST',
      'sys/capabilities-self',
      { body: { paths } },
    ),
  );
  return paths.filter((path) =>
    (data[path] ?? []).some((capability) => capability === 'update' || capability === 'root'),
  );
};

/** Things that are created on a page of their own, with the path that has to be allowed. */
const CREATED: readonly (readonly [title: string, address: string, path: string])[] = [
  ['Create authority', '/ui/certificates#create-authority', 'sys/mounts/pki'],
  ['Create policy', '/ui/policies#create-policy', 'sys/policies/acl/new'],
  ['Create namespace', '/ui/namespaces#create-namespace', 'sys/namespaces/new'],
];

const inCluster: SearchSource = {
  title: 'Actions in the cluster',
  needs: 'secrets',
  find: async (search) => {
    const wanted = bestMatches(CREATED, search.text, [([title]) => title]);
    if (wanted.length === 0) return { found: [] };
    const allowed = await allowedOf(
      search,
      CREATED.map(([, , path]) => path),
    );
    return {
      found: wanted
        .filter(([, , path]) => allowed.includes(path))
        .map(([title, address]) => ({ title, address })),
    };
  },
};

const ISSUE = /^.*\/([^/]+)\?tab=roles#issue-(.*)$/;

/** The path by which the role of an action issues. */
const issuePathOf = ({ address }: Found): string => {
  const [, mount = '', role = ''] = ISSUE.exec(address) ?? [];
  return `${decodeURIComponent(mount)}/issue/${role}`;
};

const roles = inAuthorities('Certificates to issue', async (mount) => ({
  found: (await listKeys(`${mount}/roles`)).keys.map((role) => ({
    title: `Issue certificate by ${role}`,
    more: mount,
    address: `${authorityAddress(mount)}?tab=roles#issue-${encodeURIComponent(role)}`,
  })),
}));

const byRole: SearchSource = {
  ...roles,
  find: async (search) => {
    const { found } = await roles.find(search);
    const allowed = await allowedOf(search, found.map(issuePathOf));
    return { found: found.filter((one) => allowed.includes(issuePathOf(one))) };
  },
};

export const ACTION_SOURCES: readonly SearchSource[] = [
  onWorkspaces,
  inOrganizations,
  inCluster,
  byRole,
];
