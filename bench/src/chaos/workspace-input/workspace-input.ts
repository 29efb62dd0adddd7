/** R4 for the workspace API: bad bodies, queries and paths to every route that the service describes. */
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type InProcessWorkspaces, startWorkspaces } from '../../workspace/workspace-service.ts';
import { timeAnswer } from '../answer-time.ts';
import type { Chaos, ChaosContext, ChaosReport } from '../chaos.ts';
import { Random } from '../random.ts';
import { type ApiRoute, badRequest } from './bad-requests.ts';
import { KnownResources, STATE } from './known-resources.ts';
import { PRIVATE_KEY, type Schema } from './schema-values.ts';

const MAX_RESIDENT_GROWTH = 1.5;
/** Size in bytes of the caches of the database and its records, which fill as both grow. */
const STORE_CACHES_BYTES = 128 * 1024 * 1024;
/** After this many requests most concern another organization, so that lists stop growing. */
const ANEW_EVERY = 1000;

interface Operation {
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
}

const loadRoutes = async (service: InProcessWorkspaces): Promise<readonly ApiRoute[]> =>
  Object.entries(await service.describe()).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const [content] = Object.values((operation as Operation).requestBody?.content ?? {});
      return { method: method.toUpperCase(), path, body: content?.schema };
    }),
  );

const document = (type: string, attributes: object, relationships: object = {}) => ({
  data: { type, attributes, relationships },
});

/** Callers of the requests: the site administrator, an agent pool, and the phase that an agent works on. */
interface Callers {
  readonly admin: Principal;
  agent: Principal | undefined;
  run: Principal | undefined;
}

const toOne = (type: string, id: string) => ({ data: { type, id } });
const stateOf = (state: string, serial: number) => ({
  serial,
  md5: createHash('md5').update(state).digest('hex'),
  state: Buffer.from(state).toString('base64'),
});
const CONNECTION = {
  'service-provider': 'github',
  'http-url': 'https://github.example',
  'api-url': 'https://api.github.example',
  'oauth-token-string': 'secret',
};

/** An organization with a locked workspace and one whose run an agent has claimed. */
const prepare = async (
  service: InProcessWorkspaces,
  known: KnownResources,
  callers: Callers,
  serial: number,
): Promise<void> => {
  /** @returns the created resource, which is also remembered */
  const make = async (path: string, body?: object, principal?: Principal) => {
    const data = await service.call('POST', path, body, principal);
    known.learn(JSON.stringify({ data }));
    return data;
  };
  const name = `org-of-${serial}`;
  await make('/organizations', document('organizations', { name, email: 'a@b.example' }));
  known.organization = name;
  const below = `/organizations/${name}`;
  const team = await make(`${below}/teams`, document('teams', { name: 'team' }));
  const project = await make(`${below}/projects`, document('projects', { name: 'Project' }));
  await make(`${below}/ssh-keys`, document('ssh-keys', { name: 'key', value: PRIVATE_KEY }));
  const client = await make(`${below}/oauth-clients`, document('oauth-clients', CONNECTION));
  await make(`${below}/reserved-tag-keys`, document('reserved-tag-keys', { key: 'kept' }));
  const pool = await make(`${below}/agent-pools`, document('agent-pools', { name: 'pool' }));
  const poolToken = await make(
    `/agent-pools/${pool.id}/authentication-tokens`,
    document('authentication-tokens', { description: 'agents' }),
  );
  callers.agent = await service.identify(String(poolToken.attributes['token']));
  const agent = await make('/agents', document('agents', { name: 'agent' }), callers.agent);
  const held = await make(`${below}/workspaces`, document('workspaces', { name: 'held' }));
  const related = { team: toOne('teams', team.id) };
  await make(
    '/team-workspaces',
    document(
      'team-workspaces',
      { access: 'read' },
      { ...related, workspace: toOne('workspaces', held.id) },
    ),
  );
  await make(
    '/team-projects',
    document(
      'team-projects',
      { access: 'read' },
      { ...related, project: toOne('projects', project.id) },
    ),
  );
  const inHeld = `/workspaces/${held.id}`;
  await make(`${inHeld}/vars`, document('vars', { key: 'one', category: 'env' }));
  await make(`${inHeld}/actions/lock`);
  for (const serial of [1, 2]) {
    const state = STATE.replace('"serial":1', `"serial":${serial}`);
    await make(`${inHeld}/state-versions`, document('state-versions', stateOf(state, serial)));
  }
  const executed = await make(
    `${below}/workspaces`,
    document('workspaces', {
      name: 'executed',
      'execution-mode': 'agent',
      'agent-pool-id': pool.id,
    }),
  );
  const version = await make(
    `/workspaces/${executed.id}/configuration-versions`,
    document('configuration-versions', { 'auto-queue-runs': true }),
  );
  const [path = '', query = ''] =
    String(version.attributes['upload-url']).split('/api/v2')[1]?.split('?') ?? [];
  const body = Uint8Array.of(0x1f, 0x8b, 8);
  await service.send({ method: 'PUT', path, query, body, contentType: '' });
  const claimed = await make(
    '/agent-runs/actions/claim',
    { data: { type: 'agents', id: agent.id } },
    callers.agent,
  );
  await make(`/runs/${claimed.id}/comments`, document('comments', { body: 'why' }));
  const tags = { data: [{ type: 'tags', attributes: { name: 'kept' } }] };
  await make(`${inHeld}/relationships/tags`, tags);
  for (const list of [`${below}/tags`, `/oauth-clients/${client.id}/oauth-tokens`])
    known.learn(JSON.stringify({ data: await service.call('GET', list) }));
  callers.run = await service.identify(String(claimed.attributes['token']));
};

/** An error that asks for a retry: the newest state has no content yet. */
const isExpected = (status: number, path: string): boolean =>
  status < 500 || (status === 503 && path.endsWith('/actions/unlock'));

const run = async (
  service: InProcessWorkspaces,
  { count, seed, patienceMs, isOver, say }: ChaosContext,
): Promise<ChaosReport> => {
  const random = new Random(seed);
  const routes = await loadRoutes(service);
  const ofAgents = routes.filter(({ path }) => path.startsWith('/agent'));
  let known = new KnownResources();
  const callers: Callers = { admin: service.admin, agent: undefined, run: undefined };
  const broken: string[] = [];
  const statuses = new Map<number, number>();
  let slowestMilliseconds = 0;
  let residentHalfway = 0;
  for (let sent = 0; sent < count && !isOver(); sent++) {
    if (sent % ANEW_EVERY === 0) {
      known = new KnownResources();
      await prepare(service, known, callers, sent);
    }
    if (sent === Math.floor(count / 2)) residentHalfway = process.memoryUsage().rss;
    if (sent > 0 && sent % 50_000 === 0) say(`${sent} sent, ${broken.length} broken`);
    const caller = random.pick(['admin', 'admin', 'admin', 'admin', 'agent', 'run'] as const);
    const asked = caller === 'admin' || random.once(3) ? routes : ofAgents;
    const request = badRequest(asked, known, random);
    const principal = random.once(200) ? undefined : callers[caller];
    const { answer, milliseconds, workMilliseconds } = await timeAnswer(() =>
      service.send({ ...request, principal }),
    );
    const { status, text } = answer;
    slowestMilliseconds = Math.max(slowestMilliseconds, milliseconds);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status === 200 || status === 201) known.learn(text);
    if (status === 204 && request.method !== 'GET') known.forget(request.path);
    const shown = (): string =>
      `${request.method} ${request.path}?${request.query} ${Buffer.from(request.body).toString()}`;
    if (status < 200 || !isExpected(status, request.path))
      broken.push(`${status} ${text} for ${shown()}`);
    if (workMilliseconds > patienceMs) broken.push(`${milliseconds.toFixed(0)} ms for ${shown()}`);
  }
  const resident = process.memoryUsage().rss;
  const growth = resident / residentHalfway;
  const isGrown = resident - residentHalfway > STORE_CACHES_BYTES && growth > MAX_RESIDENT_GROWTH;
  if (residentHalfway > 0 && isGrown)
    broken.push(`resident memory grew ${growth.toFixed(2)} times`);
  return {
    broken,
    figures: {
      routes: routes.length,
      ...Object.fromEntries([...statuses].map(([status, times]) => [`answered ${status}`, times])),
      'slowest answer, ms': slowestMilliseconds.toFixed(1),
      'resident memory, second half, times': growth.toFixed(2),
    },
  };
};

export const workspaceInput: Chaos = {
  name: 'workspace-input',
  promise:
    'bad bodies, queries and paths of the workspace API are refused: no crash, no 5xx, no answer over 1 s (R4)',
  unit: 'inputs',
  counts: { full: 1_000_000, short: 2500 },
  run: async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'keelson-chaos-'));
    const service = await startWorkspaces(folder);
    try {
      return await run(service, context);
    } finally {
      await service.stop();
      await rm(folder, { recursive: true });
    }
  },
};
