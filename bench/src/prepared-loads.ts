/** Loads on the public API that several benches measure, each of one operation. */
import { randomBytes } from 'node:crypto';
import type { HttpLoad } from './http-load.ts';
import { askV1, createResource, type MeasuredServer } from './measured-server.ts';

export type LoadedServer = Pick<MeasuredServer, 'url' | 'v1Headers' | 'apiHeaders'>;

export type LoadName =
  | 'create a workspace'
  | 'show a workspace'
  | 'list 20 workspaces'
  | 'lock and unlock a workspace'
  | 'issue a certificate'
  | 'read a role'
  | 'list 100 roles'
  | 'look the own token up'
  | 'create a token'
  | 'log in by AppRole';

type Loads = Readonly<Record<LoadName, Omit<HttpLoad, 'url'>>>;

const JSON_API = { 'content-type': 'application/vnd.api+json' } as const;
/** More than the connections of any load, so that a lock is answered before the request that releases it. */
const LOCKED_WORKSPACES = 300;

/** Loads of the API of workspaces, on a new organization. */
const workspaceLoads = async (side: LoadedServer, run: string, workspaces: number) => {
  const organization = `bench-${run}`;
  const described = { name: organization, email: 'bench@example.com' };
  await createResource(side, 'organizations', 'organizations', described);
  const collection = `organizations/${organization}/workspaces`;
  const shown: string[] = [];
  for (let turn = 0; turn < Math.max(workspaces, LOCKED_WORKSPACES); turn += 1)
    shown.push(await createResource(side, collection, 'workspaces', { name: `shown-${turn}` }));
  const headers = side.apiHeaders;
  const locks = ['lock', 'unlock'].flatMap((action) =>
    shown.slice(0, LOCKED_WORKSPACES).map((id) => `/api/v2/workspaces/${id}/actions/${action}`),
  );
  return {
    'create a workspace': {
      method: 'POST',
      headers: { ...headers, ...JSON_API },
      paths: [`/api/v2/${collection}`],
      body: (turn: number) =>
        JSON.stringify({
          data: {
            type: 'workspaces',
            attributes: { name: `made-${turn}-${randomBytes(4).toString('hex')}` },
          },
        }),
    },
    'show a workspace': { headers, paths: shown.map((id) => `/api/v2/workspaces/${id}`) },
    'list 20 workspaces': { headers, paths: [`/api/v2/${collection}?page[size]=20`] },
    'lock and unlock a workspace': {
      method: 'POST',
      headers: { ...headers, ...JSON_API },
      paths: locks,
      body: '{}',
      // A load may begin while workspaces are locked by the one before it.
      mayBeRefused: true,
    },
  } as const;
};

/** The path of a login by AppRole at a new mount, and its body. */
const prepareLogin = async (
  side: LoadedServer,
  run: string,
): Promise<{ readonly path: string; readonly body: string }> => {
  const mount = `auth/bench-${run}`;
  const ask = async (method: string, path: string, body?: object) => {
    const text = await (await askV1(side, method, `${mount}/role/bench${path}`, body)).text();
    return text === '' ? {} : (JSON.parse(text) as { readonly data: object }).data;
  };
  await askV1(side, 'POST', `sys/${mount}`, { type: 'approle' });
  await ask('POST', '', { token_policies: 'default', token_ttl: '1h' });
  const credentials = {
    ...(await ask('GET', '/role-id')),
    ...(await ask('POST', '/secret-id', {})),
  };
  return { path: `${mount}/login`, body: JSON.stringify(credentials) };
};

/** Loads of the API of secrets, on a new mount with a hundred roles. */
const secretsLoads = async (side: LoadedServer, run: string) => {
  const mount = `bench-${run}`;
  await askV1(side, 'POST', `sys/mounts/${mount}`, { type: 'pki' });
  const authority = { common_name: 'Bench', key_type: 'ec' };
  await askV1(side, 'POST', `${mount}/root/generate/internal`, authority);
  const roles = Array.from({ length: 100 }, (_, turn) => `${mount}/roles/bench-${turn}`);
  for (const role of roles)
    await askV1(side, 'POST', role, { allow_any_name: true, key_type: 'ec' });
  const headers = side.v1Headers;
  const login = await prepareLogin(side, run);
  return {
    'issue a certificate': {
      method: 'POST',
      headers,
      paths: [`/v1/${mount}/issue/bench-0`],
      body: JSON.stringify({ common_name: 'a.example.com', ttl: '1h' }),
    },
    'read a role': { headers, paths: roles.map((role) => `/v1/${role}`) },
    'list 100 roles': { headers, paths: [`/v1/${mount}/roles?list=true`] },
    'look the own token up': { headers, paths: ['/v1/auth/token/lookup-self'] },
    'create a token': {
      method: 'POST',
      headers,
      paths: ['/v1/auth/token/create'],
      body: JSON.stringify({ policies: ['default'], ttl: '1h' }),
    },
    'log in by AppRole': {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      paths: [`/v1/${login.path}`],
      body: login.body,
    },
  } as const;
};

/**
 * The loads by name, on a server that has what they read.
 * @param workspaces how many there are to show and list, at least
 */
export const prepareLoads = async (side: LoadedServer, workspaces: number): Promise<Loads> => {
  const run = randomBytes(4).toString('hex');
  return { ...(await secretsLoads(side, run)), ...(await workspaceLoads(side, run, workspaces)) };
};
