/**
 * Every GET of the service, every query parameter that it describes, with texts that no client means. The
 * parameters are tried at addresses that answer with 200, so that their values reach the store.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { populate } from './populated-workspace.ts';
import { startRunHarness } from './run-harness.ts';
import type { Harness, HarnessOptions } from './workspace-harness.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: { readonly type?: string };
}

interface Endpoint {
  readonly path: string;
  readonly parameters: readonly Parameter[];
}

/** Accepted or refused, but answered. */
const ODD_VALUES: readonly string[] = [
  '',
  "'",
  '%25',
  '%5C',
  '*',
  '%5B',
  '-1',
  '0x0',
  '1e999',
  '__proto__',
  'constructor',
  '%EF%BF%BF',
  '%ED%A0%80',
  '%F0%9F%92%A9',
  'x'.repeat(3000),
];

const ODD_INDEXES: readonly string[] = ['a', '-1', '1e1', '0x0', '', '__proto__', '%20'];

/** Filters that a list requires. */
const REQUIRED: Readonly<Record<string, string>> = {
  '/vars': 'filter[organization][name]=acme&filter[workspace][name]=app-1',
  '/state-versions': 'filter[organization][name]=acme&filter[workspace][name]=app-1',
  '/team-workspaces': 'filter[workspace][id]={workspace_id}',
  '/team-projects': 'filter[project][id]={project_id}',
  '/workspaces/{workspace_id}/run-triggers': 'filter[run-trigger][type]=inbound',
};

/** The list that is answered for the token of the organization alone. */
const AS_ORGANIZATION = '/organization/audit-trail';

interface Prepared {
  /** Ids of the resources whose lists and documents have parameters. */
  readonly ids: Readonly<Record<string, string>>;
  readonly organizationToken: string;
}

const prepare = async (runs: Awaited<ReturnType<typeof startRunHarness>>): Promise<Prepared> => {
  const { harness } = runs;
  const make = async (path: string, type: string, attributes: object) =>
    (await harness.create(path, type, attributes)).id;
  const workspaceId = await runs.makeWorkspace();
  const { applied } = await populate(runs, workspaceId, await runs.makeWorkspace());
  const workspace = await harness.call('GET', `/workspaces/${workspaceId}`);
  const state = await harness.call('GET', `/workspaces/${workspaceId}/current-state-version`);
  const O = '/organizations/acme';
  const ofOrganization = await harness.create(
    `${O}/authentication-token`,
    'authentication-tokens',
    {},
  );
  const clientId = await make(`${O}/oauth-clients`, 'oauth-clients', {
    'service-provider': 'gitea',
    'http-url': 'https://git.example',
    'api-url': 'https://git.example/api/v1',
    'oauth-token-string': 't',
  });
  const setId = await make(`${O}/varsets`, 'varsets', { name: 'set' });
  const ids = {
    organization_name: 'acme',
    workspace_name: 'app-1',
    workspace_id: workspaceId,
    project_id:
      (workspace.data.relationships['project']?.data as { id: string } | undefined)?.id ?? '',
    team_id: await make(`${O}/teams`, 'teams', { name: 'team' }),
    user_id: (await harness.addUser('user')).id,
    agent_pool_id: runs.poolId,
    oauth_client_id: clientId,
    varset_id: setId,
    run_id: applied,
    state_version_id: state.data.id,
  };
  return { ids, organizationToken: String(ofOrganization.attributes['token']) };
};

/** @param start a service on a store of its own */
export const registerHostileQueriesContract = (
  store: string,
  start: () => Promise<HarnessOptions>,
): void => {
  describe(`on ${store}`, () => {
    let harness: Harness;
    let ids: Readonly<Record<string, string>>;
    let organizationToken: string;
    let endpoints: readonly Endpoint[];

    const fill = (text: string): string =>
      text.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '');
    const targetOf = (path: string, ...query: readonly string[]): string =>
      `${fill(path)}?${[fill(REQUIRED[path] ?? ''), ...query].filter((part) => part !== '').join('&')}`;
    const ask = (path: string, target: string) =>
      harness.call(
        'GET',
        target,
        undefined,
        path === AS_ORGANIZATION ? organizationToken : undefined,
      );
    /** With everything that is required but the parameter itself. */
    const get = (path: string, name: string, ...query: readonly string[]) => {
      const isRequired = REQUIRED[path]?.includes(`${name}=`) === true;
      const target = isRequired ? `${fill(path)}?${query.join('&')}` : targetOf(path, ...query);
      return ask(path, target);
    };

    beforeAll(async () => {
      const runs = await startRunHarness(await start());
      harness = runs.harness;
      const { pathsJson } = await harness.service.edge.describe();
      const paths = JSON.parse(pathsJson) as Record<
        string,
        { readonly get?: { readonly parameters?: readonly Parameter[] } }
      >;
      endpoints = Object.entries(paths).flatMap(([path, item]) => {
        const parameters = (item.get?.parameters ?? []).filter(
          ({ in: place, name }) => place === 'query' && !/^(include|fields\[.*)$/.test(name),
        );
        return parameters.length === 0 ? [] : [{ path, parameters }];
      });
      ({ ids, organizationToken } = await prepare(runs));
    }, 120_000);
    afterAll(() => harness[Symbol.asyncDispose]());

    const each = async (
      fault: (path: string, parameter: Parameter) => Promise<readonly string[]>,
    ): Promise<readonly string[]> => {
      const faults: string[] = [];
      for (const { path, parameters } of endpoints) {
        for (const parameter of parameters) {
          for (const text of await fault(path, parameter))
            faults.push(`${path} ${parameter.name} ${text}`);
        }
      }
      return faults;
    };

    test('every address of the walk is answered with 200', async () => {
      const others: string[] = [];
      for (const { path } of endpoints) {
        const { status } = await ask(path, targetOf(path));
        if (status !== 200) others.push(`${path} ${status}`);
      }
      expect(others).toEqual([]);
      expect(endpoints.length).toBeGreaterThanOrEqual(40);
    });

    test('U+0000 in any parameter, or in its name, is 400 and named', async () => {
      const faults = await each(async (path, { name }) => {
        const value = await get(path, name, `${name}=a%00b`);
        const inName = await get(path, name, `${name}%00=b`);
        return [
          ...(value.status === 400 && value.errors[0]?.source?.parameter === name ? [] : ['value']),
          ...(inName.status === 400 ? [] : ['name']),
        ];
      });
      expect(faults).toEqual([]);
    });

    test('no text is answered with a server error', async () => {
      const faults = await each(async (path, { name }) => {
        const failed: string[] = [];
        for (const value of ODD_VALUES) {
          const { status } = await get(path, name, `${name}=${value}`);
          if (status >= 500) failed.push(`${value.slice(0, 20)}: ${status}`);
        }
        return failed;
      });
      expect(faults).toEqual([]);
    });

    test('an index that is no number is 400 and named', async () => {
      const faults = await each(async (path, { name }) => {
        if (!name.includes('[0]')) return [];
        const accepted: string[] = [];
        for (const index of ODD_INDEXES) {
          const given = name.replace('[0]', `[${index}]`);
          const { status, errors } = await get(path, name, `${given}=env`);
          if (status !== 400 || errors[0]?.source?.parameter !== decodeURIComponent(given))
            accepted.push(`${given}: ${status}`);
        }
        return accepted;
      });
      expect(faults).toEqual([]);
    });

    test('a parameter that is not a list has one value', async () => {
      const faults = await each(async (path, { name, schema }) => {
        const { status, errors } = await get(path, name, `${name}=1`, `${name}=2`);
        const isRefused = status === 400 && errors[0]?.detail.includes('several times') === true;
        return isRefused === (schema.type !== 'array') ? [] : [String(status)];
      });
      expect(faults).toEqual([]);
    });
  });
};
