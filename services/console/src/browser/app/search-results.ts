/** Search results: screens immediately, entities once the APIs answer. */
import { useQueries } from '@tanstack/react-query';
import { useDocument, useSecret, useSecretList } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { callWorkspaces, type ListDocument } from '../api/workspaces-api.ts';
import { SCREEN_GROUPS } from './screens.ts';

export interface Found {
  readonly title: string;
  readonly more?: string;
  readonly address: string;
}

export interface FoundGroup {
  readonly title: string;
  readonly found: readonly Found[];
}

const MAX_FOUND = 8;
const MAX_ORGANIZATIONS = 5;
const STALE_MS = 30_000;

interface Named {
  readonly name: string;
}

const useOrganizations = (isAsked: boolean): readonly string[] => {
  const { data } = useDocument<ListDocument<Named>>(
    `organizations?page[size]=${MAX_ORGANIZATIONS}`,
    { enabled: isAsked },
  );
  return data?.data.map(({ id }) => id) ?? [];
};

const useWorkspacesNamed = (text: string, organizations: readonly string[]): readonly Found[] => {
  const { workspaces } = useSession();
  const answers = useQueries({
    queries: organizations.map((organization) => ({
      queryKey: ['found', workspaces, organization, text],
      enabled: text !== '',
      staleTime: STALE_MS,
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        const path = `organizations/${encodeURIComponent(organization)}/workspaces`;
        const query = `search[name]=${encodeURIComponent(text)}&page[size]=${MAX_FOUND}`;
        const { data } = await callWorkspaces<ListDocument<Named>>('GET', `${path}?${query}`, {
          signal,
        });
        return data.map(({ attributes: { name } }) => ({
          title: name,
          more: organization,
          address: `/app/${organization}/workspaces/${name}`,
        }));
      },
    })),
  });
  return text === '' ? [] : answers.flatMap(({ data }) => data ?? []);
};

interface UiMounts {
  readonly secret?: Readonly<Record<string, { readonly type: string }>>;
}

const useSecretEntities = (isAsked: boolean): readonly (readonly [string, readonly Found[]])[] => {
  const mounts = useSecret<UiMounts>('sys/internal/ui/mounts', { enabled: isAsked });
  const policies = useSecretList('sys/policies/acl', { enabled: isAsked });
  const authorities = Object.entries(mounts.data?.secret ?? {})
    .filter(([, { type }]) => type === 'pki')
    .map(([path]) => path.replace(/\/$/, ''));
  return [
    [
      'Authorities',
      authorities.map((path) => ({
        title: path,
        address: `/ui/certificates/${encodeURIComponent(path)}`,
      })),
    ],
    [
      'Policies',
      (policies.data?.keys ?? []).map((name) => ({
        title: name,
        address: `/ui/policies/${encodeURIComponent(name)}`,
      })),
    ],
  ];
};

/** @param text what is searched; "" finds the screens */
export const useFound = (text: string): readonly FoundGroup[] => {
  const session = useSession();
  const organizations = useOrganizations(session.workspaces !== undefined);
  const workspaces = useWorkspacesNamed(text, organizations);
  const secretEntities = useSecretEntities(session.secrets !== undefined);
  const wanted = text.toLowerCase();
  const matching = (found: readonly Found[], limit = MAX_FOUND): readonly Found[] =>
    found.filter(({ title }) => title.toLowerCase().includes(wanted)).slice(0, limit);
  const screens = SCREEN_GROUPS.filter(({ needs }) => session[needs] !== undefined).flatMap(
    (group) =>
      group.screens.map(({ title, to }) => ({ title, more: group.title, address: to as string })),
  );
  const organizationsFound = organizations.map((name) => ({
    title: name,
    address: `/app/${name}/workspaces`,
  }));
  return [
    // First, because they are known immediately and later results must not move them.
    { title: 'Screens', found: matching(screens, screens.length) },
    { title: 'Workspaces', found: workspaces.slice(0, MAX_FOUND) },
    ...(text === ''
      ? []
      : [
          { title: 'Organizations', found: matching(organizationsFound) },
          ...secretEntities.map(([title, found]) => ({ title, found: matching(found) })),
        ]),
  ].filter(({ found }) => found.length > 0);
};
