/** The places in which the search looks for entities of both APIs. */
import type { QueryClient } from '@tanstack/react-query';
import { matchSorter } from 'match-sorter';
import { listKeys, readData } from '../api/secrets-api.ts';
import { readSession, type TokenKind } from '../api/session.ts';
import {
  callWorkspaces,
  includedOne,
  type ListDocument,
  type OneDocument,
  type Resource,
  relatedOne,
} from '../api/workspaces-api.ts';

export interface Found {
  readonly title: string;
  readonly more?: string;
  /** The page that is opened, or a name of what is performed. */
  readonly address: string;
  /** Performs an action that has no page. */
  readonly perform?: () => void;
}

/** Matches of one source. */
export interface Findings {
  readonly found: readonly Found[];
  /** Matches in the places that were searched, of which only some are shown; absent if unknown. */
  readonly count?: number;
  /** A sentence that names the part of the source that was searched; absent if it was searched as a whole. */
  readonly scope?: string;
}

/** One search: the lists that it reads as a whole are kept for the next letters. */
export interface Search {
  readonly text: string;
  readonly client: QueryClient;
  readonly signal: AbortSignal;
}

export interface SearchSource {
  readonly title: string;
  readonly needs: TokenKind;
  /** @throws {ApiProblem} when the token may not read the source, which then finds nothing */
  readonly find: (search: Search) => Promise<Findings>;
}

/** Entities of one source that are shown at most. */
const MAX_FOUND = 8;
const MAX_ORGANIZATIONS = 5;
const MAX_AUTHORITIES = 5;
const MAX_CERTIFICATES = 1000;
const STALE_MS = 30_000;

interface Named {
  readonly name: string;
}

/** Reads what does not depend on the text, at most every half minute. */
export const keep = <Value>(
  { client }: Search,
  name: string,
  read: () => Promise<Value>,
): Promise<Value> => {
  const { secrets, workspaces, namespace } = readSession();
  const queryKey = ['search', secrets, workspaces, namespace, name];
  return client.fetchQuery({ queryKey, queryFn: read, staleTime: STALE_MS });
};

/** "cache prod" finds "cache-prod". */
const spaced = (name: string): string => name.replaceAll(/[-_/.]/g, ' ');

/** The best matches first. @param keys the texts of an entity in which to look */
export const bestMatches = <One>(
  all: readonly One[],
  text: string,
  keys: readonly ((one: One) => string)[],
): readonly One[] =>
  matchSorter(all, spaced(text), { keys: keys.map((key) => (one: One) => spaced(key(one))) });

const matching = (all: readonly Found[], text: string): Findings => {
  const found = bestMatches(all, text, [({ title }) => title]);
  return { found: found.slice(0, MAX_FOUND), count: found.length };
};

/** Places that are searched one by one, of which there may be more. */
export interface Places {
  readonly names: readonly string[];
  readonly scope?: string;
}

/** @param all at least the first ones of `count` */
const firstOf = (all: readonly string[], count: number, limit: number, kind: string): Places =>
  count <= limit
    ? { names: all }
    : { names: all.slice(0, limit), scope: `Searched in ${limit} of ${count} ${kind}.` };

/** The organization whose pages are shown, and the first others. */
export const organizations = async (search: Search): Promise<Places> => {
  const { data, meta } = await keep(search, 'organizations', () =>
    callWorkspaces<ListDocument<Named>>('GET', `organizations?page[size]=${MAX_ORGANIZATIONS}`),
  );
  const [, shown] = /^\/app\/([^/]+)/.exec(location.pathname) ?? [];
  const names = data.map(({ id }) => id);
  return firstOf(
    shown === undefined ? names : [shown, ...names.filter((name) => name !== shown)],
    meta?.pagination?.['total-count'] ?? names.length,
    MAX_ORGANIZATIONS,
    'organizations',
  );
};

/** A list of each organization that the API itself searches. */
const inOrganizations = (
  title: string,
  query: (text: string) => string,
  addressOf: (organization: string, resource: Resource<Named>) => string,
): SearchSource => ({
  title,
  needs: 'workspaces',
  find: async (search) => {
    const { text, signal } = search;
    const { names, scope } = await organizations(search);
    const lists = names.map(async (organization): Promise<Required<Omit<Findings, 'scope'>>> => {
      const path = `organizations/${encodeURIComponent(organization)}/${query(encodeURIComponent(text))}&page[size]=${MAX_FOUND}`;
      const { data, meta } = await callWorkspaces<ListDocument<Named>>('GET', path, { signal });
      const found = data.map((resource) => ({
        title: resource.attributes.name,
        more: organization,
        address: `/app/${organization}/${addressOf(organization, resource)}`,
      }));
      return { found, count: meta?.pagination?.['total-count'] ?? found.length };
    });
    const answers = await Promise.all(lists);
    return {
      found: answers.flatMap(({ found }) => found).slice(0, MAX_FOUND),
      count: answers.reduce((sum, { count }) => sum + count, 0),
      ...(scope !== undefined && { scope }),
    };
  },
});

const runs: SearchSource = {
  title: 'Runs',
  needs: 'workspaces',
  find: async ({ text, signal }) => {
    if (!/^run-[A-Za-z0-9]{16}$/.test(text)) return { found: [] };
    const run = await callWorkspaces<OneDocument<{ message: string }>>(
      'GET',
      `runs/${text}?include=workspace`,
      { signal },
    );
    const workspace = includedOne<Named>(run, run.data, 'workspace');
    const organization = workspace?.relationships?.['organization']?.data as
      | { id: string }
      | undefined;
    if (workspace === undefined || organization === undefined) return { found: [] };
    const { name } = workspace.attributes;
    const address = `/app/${organization.id}/${name}/runs/${text}`;
    return { found: [{ title: text, more: name, address }] };
  },
};

/** A workspace by its id; its name is found in the organizations. */
const workspacesById: SearchSource = {
  title: 'Workspaces by id',
  needs: 'workspaces',
  find: async ({ text, signal }) => {
    if (!/^ws-[A-Za-z0-9]{16}$/.test(text)) return { found: [] };
    const { data } = await callWorkspaces<OneDocument<Named>>('GET', `workspaces/${text}`, {
      signal,
    });
    const organization = relatedOne(data, 'organization');
    if (organization === undefined) return { found: [] };
    const { name } = data.attributes;
    const address = `/app/${organization.id}/workspaces/${name}`;
    return { found: [{ title: name, more: organization.id, address }] };
  },
};

interface UiMounts {
  readonly secret?: Readonly<Record<string, { readonly type: string }>>;
}

const authorities = (search: Search): Promise<readonly string[]> =>
  keep(search, 'authorities', async () => {
    const mounts = await readData<UiMounts>('sys/internal/ui/mounts');
    return Object.entries(mounts?.secret ?? {})
      .filter(([, { type }]) => type === 'pki')
      .map(([path]) => path.replace(/\/$/, ''));
  });

/** The page of an authority. */
export const authorityAddress = (mount: string): string =>
  `/ui/certificates/${encodeURIComponent(mount)}`;

const certificateAddress = (mount: string, serial: string): string =>
  `${authorityAddress(mount)}/certificate/${serial}`;

/** A list of each authority that is read as a whole. */
export const inAuthorities = (
  title: string,
  read: (mount: string) => Promise<Pick<Findings, 'found' | 'scope'>>,
): SearchSource => ({
  title,
  needs: 'secrets',
  find: async (search) => {
    const mounts = await authorities(search);
    const places = firstOf(mounts, mounts.length, MAX_AUTHORITIES, 'authorities');
    const lists = places.names.map((mount) =>
      keep(search, `${title} of ${mount}`, () => read(mount)),
    );
    const answers = await Promise.all(lists);
    const scopes = [places, ...answers].flatMap(({ scope }) => scope ?? []);
    const all = answers.flatMap(({ found }) => found);
    return {
      ...matching(all, search.text),
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    };
  },
});

/** Certificates by name or serial number, of those that expire first. */
const listedCertificates = inAuthorities('Certificates', async (mount) => {
  const path = `${mount}/certs/detailed?limit=${MAX_CERTIFICATES}`;
  const { keys, infos } = await listKeys<{ readonly common_name: string }>(path);
  const found = keys.map((serial) => ({
    // The serial number is part of the title, so that it is found as well.
    title: [infos[serial]?.common_name, serial].filter(Boolean).join(' '),
    more: mount,
    address: certificateAddress(mount, serial),
  }));
  if (keys.length < MAX_CERTIFICATES) return { found };
  const scope = `Searched in the ${MAX_CERTIFICATES.toLocaleString()} certificates of ${mount} that expire first; the page of the authority searches all.`;
  return { found, scope };
});

/** A certificate by its whole serial number, however many the authorities have issued. */
const bySerialNumber = async (search: Search): Promise<readonly Found[]> => {
  const digits = search.text.replaceAll(/[:-]/g, '').toLowerCase();
  if (!/^(?:[0-9a-f]{2}){8,20}$/.test(digits)) return [];
  const serial = digits.replaceAll(/(..)(?=.)/g, '$1:');
  const asked = (await authorities(search)).map(async (mount): Promise<Found[]> => {
    const found = await readData(`${mount}/cert/${serial}`, { signal: search.signal });
    if (found === undefined) return [];
    return [{ title: serial, more: mount, address: certificateAddress(mount, serial) }];
  });
  return (await Promise.all(asked)).flat();
};

const certificates: SearchSource = {
  ...listedCertificates,
  find: async (search) => {
    const listed = await listedCertificates.find(search);
    if (listed.found.length > 0) return listed;
    const found = await bySerialNumber(search);
    return found.length > 0 ? { found } : listed;
  },
};

/** A LIST below `/v1/` that is read as a whole. */
const listed = (title: string, path: string, addressOf: (key: string) => string): SearchSource => ({
  title,
  needs: 'secrets',
  find: async (search) => {
    const { keys } = await keep(search, title, () => listKeys(path));
    const found = keys.map((key) => ({ title: key, address: addressOf(key) }));
    return matching(found, search.text);
  },
});

export const SEARCH_SOURCES: readonly SearchSource[] = [
  inOrganizations(
    'Workspaces',
    (text) => `workspaces?search[name]=${text}`,
    (_, { attributes }) => `workspaces/${attributes.name}`,
  ),
  workspacesById,
  runs,
  {
    title: 'Organizations',
    needs: 'workspaces',
    find: async ({ text, signal }) => {
      const path = `organizations?q=${encodeURIComponent(text)}&page[size]=${MAX_FOUND}`;
      const { data, meta } = await callWorkspaces<ListDocument<Named>>('GET', path, { signal });
      const found = data.map(({ id }) => ({ title: id, address: `/app/${id}/workspaces` }));
      return { found, count: meta?.pagination?.['total-count'] ?? found.length };
    },
  },
  inOrganizations(
    'Projects',
    (text) => `projects?q=${text}`,
    (_, { id }) => `workspaces?project=${id}`,
  ),
  inOrganizations(
    'Teams',
    (text) => `teams?q=${text}`,
    (_, { id }) => `teams/${id}`,
  ),
  inOrganizations(
    'Variable sets',
    (text) => `varsets?q=${text}`,
    () => 'variable-sets',
  ),
  inOrganizations(
    'Agent pools',
    (text) => `agent-pools?q=${text}`,
    () => 'agent-pools',
  ),
  {
    title: 'Authorities',
    needs: 'secrets',
    find: async (search) => {
      const mounts = await authorities(search);
      const found = mounts.map((mount) => ({ title: mount, address: authorityAddress(mount) }));
      return matching(found, search.text);
    },
  },
  inAuthorities('Roles', async (mount) => ({
    found: (await listKeys(`${mount}/roles`)).keys.map((name) => ({
      title: name,
      more: mount,
      address: `${authorityAddress(mount)}?tab=roles`,
    })),
  })),
  certificates,
  inAuthorities('Issuers', async (mount) => {
    const { keys, infos } = await listKeys<{
      readonly common_name: string;
      readonly issuer_name: string;
    }>(`${mount}/issuers`);
    const found = keys.map((id) => ({
      title: [infos[id]?.common_name, infos[id]?.issuer_name, id].filter(Boolean).join(' '),
      more: mount,
      address: `${authorityAddress(mount)}?tab=issuers`,
    }));
    return { found };
  }),
  {
    title: 'Mounts',
    needs: 'secrets',
    find: async (search) => {
      const mounts = await keep(search, 'mounts', () => readData<object>('sys/mounts'));
      const found = Object.keys(mounts ?? {}).map((path) => ({
        title: path,
        address: '/ui/mounts',
      }));
      return matching(found, search.text);
    },
  },
  listed('Policies', 'sys/policies/acl', (name) => `/ui/policies/${encodeURIComponent(name)}`),
  listed('Namespaces', 'sys/namespaces', () => '/ui/namespaces'),
];
