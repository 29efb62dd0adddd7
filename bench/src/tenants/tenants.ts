import { createHash, randomBytes } from 'node:crypto';
import type { Bench, Figure } from '../bench.ts';
import { startProcess } from '../child-process.ts';
import { openDistributedServer } from '../distributed-server.ts';
import {
  askV1,
  createResource,
  fetchWithinLimits,
  type MeasuredServer,
  openMeasuredServer,
} from '../measured-server.ts';
import {
  createMeasure,
  GREEDY_CONNECTIONS,
  loadOf,
  POLITE_PER_SECOND,
  type Tenants,
} from './polite-latency.ts';

/** With the limits that an installation has unless its operator sets others, and without any. */
const LIMITS: readonly Readonly<Record<string, string>>[] = [{}, { KEELSON_RATE_LIMIT: 'off' }];
const STATE_BYTES = 1_000_000;

/** @returns the path of the signed address of a new state */
const storeState = async (
  { url, apiHeaders: headers }: MeasuredServer,
  workspaceId: string,
): Promise<string> => {
  const values = { padding: { value: 'x'.repeat(STATE_BYTES), type: 'string' } };
  const state = Buffer.from(
    JSON.stringify({ version: 4, serial: 1, lineage: 'bench', outputs: values, resources: [] }),
  );
  const post = async (path: string, body: object): Promise<Response> => {
    const answer = await fetchWithinLimits(`${url}/api/v2/workspaces/${workspaceId}/${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/vnd.api+json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  await post('actions/lock', {});
  const md5 = createHash('md5').update(state).digest('hex');
  const attributes = { serial: 1, md5, state: state.toString('base64') };
  const answer = await post('state-versions', { data: { type: 'state-versions', attributes } });
  const { data } = (await answer.json()) as {
    data: { attributes: { 'hosted-state-download-url': string } };
  };
  const { pathname, search } = new URL(data.attributes['hosted-state-download-url']);
  return pathname + search;
};

/** Two organizations with workspaces, each called by its own token. */
const openOrganizations = async (
  server: MeasuredServer,
  workspaces: number,
): Promise<readonly Tenants[]> => {
  const open = async () => {
    const name = `bench-${randomBytes(4).toString('hex')}`;
    await createResource(server, 'organizations', 'organizations', {
      name,
      email: 'bench@example.com',
    });
    const list = `organizations/${name}/workspaces`;
    const ids: string[] = [];
    for (let turn = 0; turn < workspaces; turn += 1)
      ids.push(await createResource(server, list, 'workspaces', { name: `workspace-${turn}` }));
    const answer = await fetchWithinLimits(
      `${server.url}/api/v2/organizations/${name}/authentication-token`,
      {
        method: 'POST',
        headers: server.apiHeaders,
      },
    );
    const { data } = (await answer.json()) as { data: { attributes: { token: string } } };
    const headers = { authorization: `Bearer ${data.attributes.token}` };
    return { list: `/api/v2/${list}`, ids, headers };
  };
  const { ids, headers } = await open();
  const greedy = await open();
  const polite = { paths: ids.map((id) => `/api/v2/workspaces/${id}`), headers };
  const state = await storeState(server, greedy.ids[0] ?? '');
  return [
    {
      name: 'organizations: a workspace, beside lists of 20',
      polite,
      greedy: {
        paths: [1, 2, 3].map((page) => `${greedy.list}?page[size]=20&page[number]=${page}`),
        headers: greedy.headers,
      },
    },
    {
      name: 'organizations: a workspace, beside downloads of a state of 1 MB',
      polite,
      greedy: { paths: [state] },
    },
  ];
};

/** Two namespaces with a mount that has roles, each called by a token of the root. */
const openNamespaces = async (
  server: MeasuredServer,
  roles: number,
): Promise<readonly Tenants[]> => {
  const open = async () => {
    const mount = `bench-${randomBytes(4).toString('hex')}/pki`;
    await askV1(server, 'POST', `sys/namespaces/${mount.split('/')[0]}`, {});
    await askV1(server, 'POST', `${mount.replace('/', '/sys/mounts/')}`, { type: 'pki' });
    const role = { allow_any_name: true, key_type: 'ec', key_bits: 256 };
    for (let turn = 0; turn < roles; turn += 1)
      await askV1(server, 'POST', `${mount}/roles/role-${turn}`, role);
    await askV1(server, 'POST', `${mount}/root/generate/internal`, {
      common_name: 'bench',
      key_type: 'ec',
      key_bits: 256,
    });
    return `/v1/${mount}`;
  };
  const headers = server.v1Headers;
  const mount = await open();
  const greedy = await open();
  const paths = Array.from({ length: roles }, (_, turn) => `${mount}/roles/role-${turn}`);
  const polite = { paths, headers };
  return [
    {
      name: 'namespaces: a role, beside lists of roles',
      polite,
      greedy: { paths: [`${greedy}/roles?list=true`], headers },
    },
    {
      name: 'namespaces: a role, beside certificates',
      polite,
      greedy: {
        paths: [`${greedy}/issue/role-0`],
        headers,
        method: 'POST',
        body: JSON.stringify({ common_name: 'leaf.example.com', ttl: '1h' }),
      },
    },
  ];
};

export const tenants: Bench = {
  name: 'tenants',
  claim: 'R10: p99 of a polite tenant beside a greedy one at most 2 × alone',
  method:
    `${POLITE_PER_SECOND} requests a second of one tenant, timed from when each was due, alone and while another ` +
    `asks for expensive things from ${GREEDY_CONNECTIONS} connections, at once again when it is refused. With the rate limits that an installation begins with, and without; and without them in processes of its services, ` +
    'where each tenant asks a gateway of its own. The load at another installation shows what the machine alone costs.',
  run: async (context) => {
    const { quick, say } = context;
    const seconds = quick ? 0.5 : 20;
    const greedyProcess = await startProcess(new URL('./greedy-process.ts', import.meta.url));
    try {
      const measure = createMeasure(greedyProcess, seconds, say);
      const figures: Figure[] = [];
      const count = quick ? 5 : 300;
      for (const limits of LIMITS) {
        await using server = await openMeasuredServer(context, limits);
        await using other = await openMeasuredServer(context, limits);
        const suffix = limits === LIMITS[0] ? '' : ', without rate limits';
        for (const open of [openOrganizations, openNamespaces]) {
          const others = context.target === undefined ? await open(other, count) : [];
          for (const [index, one] of (await open(server, count)).entries()) {
            const apart = others[index];
            const elsewhere = apart && loadOf(other.url, apart);
            const named = { ...one, name: one.name + suffix };
            figures.push(...(await measure(server.url, named, loadOf(server.url, one), elsewhere)));
          }
        }
      }
      if (context.target !== undefined) return figures;
      // A gateway for each of the tenants.
      await using distributed = await openDistributedServer(context, {
        name: 'tenants',
        replicas: { gateway: 2 },
      });
      const { cluster, first } = distributed;
      const [, other = first.url] = cluster.urls;
      for (const open of [openOrganizations, openNamespaces])
        for (const one of await open(first, count)) {
          const named = { ...one, name: `${one.name}, at another gateway` };
          figures.push(...(await measure(first.url, named, loadOf(other, one))));
        }
      return figures;
    } finally {
      await greedyProcess.stop();
    }
  },
};
