/** The places in which the search looks for entities of both APIs. */
import type { QueryClient } from '@tanstack/react-query';
import { listKeys, readData } from '../api/secrets-api.ts';
import { readSession, type TokenKind } from '../api/session.ts';
import {
  callWorkspaces,
  includedOne,
  type ListDocument,
  type OneDocument,
  type Resource,
} from '../api/workspaces-api.ts';

export interface Found {
  readonly title: string;
  readonly more?: string;
  readonly address: string;
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
  readonly find: (search: Search) => Promise<readonly Found[]>;
}

/** Entities of one source that are read at most. */
export const MAX_FOUND = 8;
const MAX_ORGANIZATIONS = 5;
const MAX_AUTHORITIES = 5;
const MAX_CERTIFICATES = 1000;
const STALE_MS = 30_000;

interface Named {
  readonly name: string;
}

/** Reads what does not depend on the text, at most every half minute. */
const keep = <Value>(
  { client }: Search,
  name: string,
  read: () => Promise<Value>,
): Promise<Value> => {
  const { secrets, workspaces, namespace } = readSession();
  const queryKey = ['search', secrets, workspaces, namespace, name];
  return client.fetchQuery({ queryKey, queryFn: read, staleTime: STALE_MS });
};

const matching = (found: readonly Found[], text: string): readonly Found[] => {
  const wanted = text.toLowerCase();
  return found.filter(({ title }) => title.toLowerCase().includes(wanted)).slice(0, MAX_FOUND);
};

const organizations = (search: Search): Promise<readonly string[]> =>
  keep(search, 'organizations', async () => {
    const path = `organizations?page[size]=${MAX_ORGANIZATIONS}`;
    const { data } = await callWorkspaces<ListDocument<Named>>('GET', path);
    return data.map(({ id }) => id);
  });

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
    const lists = (await organizations(search)).map(async (organization): Promise<Found[]> => {
      const path = `organizations/${encodeURIComponent(organization)}/${query(encodeURIComponent(text))}&page[size]=${MAX_FOUND}`;
      const { data } = await callWorkspaces<ListDocument<Named>>('GET', path, { signal });
      return data.map((resource) => ({
        title: resource.attributes.name,
        more: organization,
        address: `/app/${organization}/${addressOf(organization, resource)}`,
      }));
    });
    return (await Promise.all(lists)).flat().slice(0, MAX_FOUND);
  },
});

const runs: SearchSource = {
  title: 'Runs',
  needs: 'workspaces',
  find: async ({ text, signal }) => {
    if (!/^run-[A-Za-z0-9]{16}$/.test(text)) return [];
    const run = await callWorkspaces<OneDocument<{ message: string }>>(
      'GET',
      `runs/${text}?include=workspace`,
      { signal },
    );
    const workspace = includedOne<Named>(run, run.data, 'workspace');
    const organization = workspace?.relationships?.['organization']?.data as
      | { id: string }
      | undefined;
    if (workspace === undefined || organization === undefined) return [];
    const { name } = workspace.attributes;
    return [{ title: text, more: name, address: `/app/${organization.id}/${name}/runs/${text}` }];
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

const authorityAddress = (mount: string): string => `/ui/certificates/${encodeURIComponent(mount)}`;

const certificateAddress = (mount: string, serial: string): string =>
  `${authorityAddress(mount)}/certificate/${serial}`;

/** A list of each authority that is read as a whole. */
const inAuthorities = (
  title: string,
  read: (mount: string) => Promise<readonly Found[]>,
): SearchSource => ({
  title,
  needs: 'secrets',
  find: async (search) => {
    const mounts = (await authorities(search)).slice(0, MAX_AUTHORITIES);
    const lists = mounts.map((mount) => keep(search, `${title} of ${mount}`, () => read(mount)));
    return matching((await Promise.all(lists)).flat(), search.text);
  },
});

/** Certificates by name or serial number, of those that expire first. */
const listedCertificates = inAuthorities('Certificates', async (mount) => {
  const path = `${mount}/certs/detailed?limit=${MAX_CERTIFICATES}`;
  const { keys, infos } = await listKeys<{ readonly common_name: string }>(path);
  return keys.map((serial) => ({
    // The serial number is part of the title, so that it is found as well.
    title: [infos[serial]?.common_name, serial].filter(Boolean).join(' '),
    more: mount,
    address: certificateAddress(mount, serial),
  }));
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
    const found = await listedCertificates.find(search);
    return found.length > 0 ? found : bySerialNumber(search);
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
  runs,
  {
    title: 'Organizations',
    needs: 'workspaces',
    find: async ({ text, signal }) => {
      const path = `organizations?q=${encodeURIComponent(text)}&page[size]=${MAX_FOUND}`;
      const { data } = await callWorkspaces<ListDocument<Named>>('GET', path, { signal });
      return data.map(({ id }) => ({ title: id, address: `/app/${id}/workspaces` }));
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
  inAuthorities('Roles', async (mount) =>
    (await listKeys(`${mount}/roles`)).keys.map((name) => ({
      title: name,
      more: mount,
      address: `${authorityAddress(mount)}?tab=roles`,
    })),
  ),
  certificates,
  inAuthorities('Issuers', async (mount) => {
    const { keys, infos } = await listKeys<{ readonly issuer_name: string }>(`${mount}/issuers`);
    return keys.map((id) => ({
      title: [infos[id]?.issuer_name, id].filter(Boolean).join(' '),
      more: mount,
      address: `${authorityAddress(mount)}?tab=issuers`,
    }));
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
