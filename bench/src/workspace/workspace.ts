import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@keelson/clock';
import { bufferedBody, type EdgeService } from '@keelson/edge';
import { InProcessLeaseStore } from '@keelson/locks';
import { createLogger } from '@keelson/logging';
import { Dialect, type Principal } from '@keelson/proto/edge/v1/edge';
import { createBarrier, openSqliteStore } from '@keelson/storage';
import { composeWorkspace, WORKSPACE_PROJECTIONS } from '@keelson/workspace-service';
import type { Bench, Figure } from '../bench.ts';
import { measureLatency, measureThroughput } from '../load.ts';

const COLLECTION = '/organizations/bench/workspaces';
const CALLERS = 64;

const LISTINGS: Readonly<Record<string, string>> = {
  'default order': '',
  'by name, descending': 'sort=-name',
  'by latest change': 'sort=latest-change-at',
  'last page': 'page[number]={last}',
  'wildcard at the end': 'search[wildcard-name]=team-07-*',
  'wildcard at the start': 'search[wildcard-name]=*-00042',
  'part of the name, rare': 'search[name]=07-0004',
  'part of the name, in all': 'search[name]=team',
  'two tag filters':
    'filter[tagged][0][key]=env&filter[tagged][0][value]=e3&filter[tagged][1][key]=team&filter[tagged][1][value]=t07',
};

const call = async (
  edge: EdgeService,
  principal: Principal | undefined,
  method: string,
  path: string,
  { query = '', body }: { query?: string; body?: unknown } = {},
): Promise<{ status: number; document: { data: { id: string } } }> => {
  const reply = await edge.handle({
    head: {
      requestId: 'bench',
      method,
      path,
      query,
      headers: { 'content-type': 'application/vnd.api+json' },
      dialect: Dialect.SPECIFICATION,
      remoteAddress: '127.0.0.1',
      baseUrl: 'http://127.0.0.1',
      traceparent: '',
      namespace: undefined,
      mount: undefined,
      caller: undefined,
      principal,
    },
    body: bufferedBody(body === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(body))),
    signal: new AbortController().signal,
  });
  const { status } = reply.head;
  if (status >= 400) throw new Error(`${method} ${path} answered ${status}`);
  return { status, document: JSON.parse(Buffer.from(reply.body as Uint8Array).toString()) };
};

const workspace = (at: number) => {
  const team = String(at % 50).padStart(2, '0');
  const binding = (key: string, value: string) => ({
    type: 'tag-bindings',
    attributes: { key, value },
  });
  return {
    data: {
      type: 'workspaces',
      attributes: { name: `team-${team}-${String(at).padStart(5, '0')}` },
      relationships: {
        'tag-bindings': { data: [binding('env', `e${at % 4}`), binding('team', `t${team}`)] },
      },
    },
  };
};

const startService = async (folder: string) => {
  const barrier = createBarrier();
  const store = await openSqliteStore({
    file: join(folder, 'workspace.db'),
    barrier,
    projections: WORKSPACE_PROJECTIONS,
  });
  const service = composeWorkspace({
    config: { workspaceRuntimeVersions: ['1.11.4'] },
    store,
    barrier,
    clock: systemClock,
    leases: new InProcessLeaseStore(),
    logger: createLogger({ name: 'bench', level: 'error' }),
    cluster: {
      join: async function* (_request, options) {
        yield {
          initialized: true,
          sealed: false,
          serviceKey: Buffer.alloc(32, 1),
          keyringTerm: 1,
          replicationRoles: [],
          clusterId: '',
          clusterName: '',
          mounts: [],
        };
        await new Promise((resolve) => options?.signal?.addEventListener('abort', resolve));
      },
    },
  });
  await service.start();
  const stop = async () => {
    await service.stop();
    await store.close();
  };
  return { service, stop };
};

export const workspaces: Bench = {
  name: 'workspace',
  claim: 'P7, P8: create, show, lock and list workspaces, without HTTP',
  method:
    'The service on SQLite in one process, called as the gateway calls it; 64 callers; listings one at a time at a fixed rate.',
  run: async ({ quick, say }) => {
    const count = quick ? 200 : 100_000;
    const seconds = quick ? 0.2 : 3;
    const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-'));
    const { service, stop } = await startService(folder);
    const figures: Figure[] = [];
    try {
      const { token } = await service.ensureAdminToken();
      const { principal } = await service.identity.identify({ token });
      const { edge } = service;
      const organization = { name: 'bench', email: 'a@b.example' };
      const body = { data: { type: 'organizations', attributes: organization } };
      await call(edge, principal, 'POST', '/organizations', { body });

      say(`creating ${count} workspaces`);
      const ids: string[] = [];
      let next = 0;
      const startedAt = performance.now();
      const creator = async (): Promise<void> => {
        while (next < count) {
          const at = next++;
          const { document } = await call(edge, principal, 'POST', COLLECTION, {
            body: workspace(at),
          });
          ids[at] = document.data.id;
        }
      };
      await Promise.all(Array.from({ length: CALLERS }, creator));
      figures.push({
        name: 'create (target: at least 2,500)',
        value: count / ((performance.now() - startedAt) / 1000),
        unit: '/s',
      });

      let turn = 0;
      const nextId = () => ids[turn++ % ids.length] ?? '';
      const show = () => call(edge, principal, 'GET', `/workspaces/${nextId()}`);
      const shown = await measureThroughput(show, CALLERS, seconds);
      figures.push({ name: 'show by id', value: shown.perSecond, unit: '/s' });
      const lockAndUnlock = async () => {
        const path = `/workspaces/${nextId()}/actions`;
        await call(edge, principal, 'POST', `${path}/lock`);
        await call(edge, principal, 'POST', `${path}/unlock`);
      };
      const locked = await measureThroughput(lockAndUnlock, CALLERS, seconds);
      figures.push({ name: 'lock and unlock, as one', value: locked.perSecond, unit: '/s' });

      for (const [name, text] of Object.entries(LISTINGS)) {
        const query = text.replace('{last}', String(Math.ceil(count / 20)));
        const list = () => call(edge, principal, 'GET', COLLECTION, { query });
        const latency = await measureLatency(list, quick ? 50 : 20, seconds);
        figures.push({
          name: `list ${name}, p99 (target: at most 15)`,
          value: latency.p99,
          unit: 'ms',
          latencyMilliseconds: latency,
        });
      }
      // Each creation makes what was counted before void.
      let created = count;
      const createAndList = async () => {
        await call(edge, principal, 'POST', COLLECTION, { body: workspace(created++) });
        await call(edge, principal, 'GET', COLLECTION, { query: 'search[name]=team' });
      };
      const afterCreation = await measureLatency(createAndList, quick ? 50 : 20, seconds);
      figures.push({
        name: 'create one and list part of the name, in all, p99',
        value: afterCreation.p99,
        unit: 'ms',
        latencyMilliseconds: afterCreation,
      });
      return figures;
    } finally {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
