/** R4 for the workspace API: bad bodies, queries and paths to every route that the service describes. */
import { createHash } from 'node:crypto';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { temporaryDirectory } from '@keelson/testkit';
import fc from 'fast-check';
import { type InProcessWorkspaces, startWorkspaces } from '../../workspace/workspace-service.ts';
import type { Chaos, ChaosContext, ChaosReport } from '../chaos.ts';
import { tryInputs } from '../inputs.ts';
import { oneIn } from '../malformed.ts';
import { RESIDENT_MEMORY } from '../memory.ts';
import { type ApiRoute, type BadRequest, badRequest } from './bad-requests.ts';
import { KnownResources, STATE } from './known-resources.ts';
import { PRIVATE_KEY, type Schema } from './schema-values.ts';

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

/** A request, and the caller who sends it. */
interface Input extends BadRequest {
  readonly caller: keyof Callers | 'nobody';
}

const inputsOf = (routes: readonly ApiRoute[], known: KnownResources): fc.Arbitrary<Input> => {
  const ofAnyone = badRequest(routes, known);
  const ofAgents = badRequest(
    routes.filter(({ path }) => path.startsWith('/agent')),
    known,
  );
  const by = (
    callers: readonly (keyof Callers)[],
    request: fc.Arbitrary<BadRequest>,
  ): fc.Arbitrary<Input> =>
    fc
      .tuple(request, oneIn(200, fc.constant('nobody'), fc.constantFrom(...callers)))
      .map(([given, caller]) => ({ ...given, caller }));
  return oneIn(3, by(['agent', 'run'], oneIn(3, ofAnyone, ofAgents)), by(['admin'], ofAnyone));
};

const run = async (service: InProcessWorkspaces, context: ChaosContext): Promise<ChaosReport> => {
  const routes = await loadRoutes(service);
  // An administrator who removed his own account or token could not prepare the next block.
  const { id, tokenId } = service.admin;
  let known = new KnownResources();
  let organizations = 0;
  const callers: Callers = { admin: service.admin, agent: undefined, run: undefined };
  const { broken, figures } = await tryInputs<Input>(context, {
    begin: async () => {
      known = new KnownResources([id, tokenId]);
      await prepare(service, known, callers, ++organizations);
      return inputsOf(routes, known);
    },
    block: ANEW_EVERY,
    send: async ({ caller, ...request }) => {
      const principal = caller === 'nobody' ? undefined : callers[caller];
      const { status, text } = await service.send({ ...request, principal });
      if (status === 200 || status === 201) known.learn(text);
      if (status === 204 && request.method !== 'GET') known.forget(request.path);
      const isBroken = status < 200 || !isExpected(status, request.path);
      return { kind: `answered ${status}`, broken: isBroken ? `${status} ${text}` : undefined };
    },
    show: ({ caller, method, path, query, body }) =>
      `${method} ${path}?${query} ${Buffer.from(body).toString()} of ${caller}`,
    memory: RESIDENT_MEMORY,
  });
  return { broken, figures: { routes: routes.length, ...figures } };
};

export const workspaceInput: Chaos = {
  name: 'workspace-input',
  promise:
    'bad bodies, queries and paths of the workspace API are refused: no crash, no 5xx, no answer over 1 s (R4)',
  unit: 'inputs',
  counts: { full: 1_000_000, short: 2500 },
  run: async (context) => {
    await using folder = await temporaryDirectory();
    const service = await startWorkspaces(folder.path);
    try {
      return await run(service, context);
    } finally {
      await service.stop();
    }
  },
};
