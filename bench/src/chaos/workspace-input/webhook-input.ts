/** R4 for webhooks: forged, damaged, repeated and oversized deliveries of every provider. */
import { type RepositoryServer, startRepositoryServer } from '@keelson/testkit';
import { type Cluster, until } from '@keelson/testkit/replication-cluster';
import type { Chaos, ChaosContext, ChaosReport } from '../chaos.ts';
import type { Outcome } from '../inputs.ts';
import { tryServer } from '../server-input/tried-server.ts';
import {
  type BadDelivery,
  badDeliveries,
  type KnownHook,
  PROVIDER_FORMS,
  type ProviderForm,
} from './bad-deliveries.ts';

/** Statuses that each kind of delivery may be answered with; 409: damage has left two of them equal. */
const ALLOWED: Readonly<Record<BadDelivery['kind'], readonly number[]>> = {
  forged: [403],
  unknown: [400, 404],
  damaged: [202, 400, 409],
  'other event': [202, 400, 409],
  'another branch': [202],
  // Several at a time are more than callers without a token may have in memory together.
  oversized: [413, 503],
};

type Delivery = Pick<BadDelivery, 'path' | 'headers' | 'body'>;

const send = async (cluster: Cluster, { path, headers, body }: Delivery) => {
  const url = `${cluster.process().http}/api/v2${path}`;
  const response = await fetch(url, { method: 'POST', headers, body: Buffer.from(body) });
  return { status: response.status, text: await response.text() };
};

const judge = async (cluster: Cluster, delivery: BadDelivery): Promise<Outcome> => {
  const { kind, isRepeated } = delivery;
  const { status, text } = await send(cluster, delivery);
  if (!ALLOWED[kind].includes(status))
    return { kind: `${kind} ${status}`, broken: `${status} ${text}` };
  if (status !== 202 || !isRepeated) return { kind: `${kind} ${status}` };
  const again = await send(cluster, delivery);
  return {
    kind: `${kind} 202, repeated ${again.status}`,
    broken: again.status === 409 ? undefined : `${again.status} for a repeated delivery`,
  };
};

const resource = (type: string, attributes: object) => ({ data: { type, attributes } });

const create = async (cluster: Cluster, path: string, type: string, attributes: object) => {
  const { status, body } = await cluster.api('POST', path, resource(type, attributes));
  if (status !== 201) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body.data;
};

/** Where git finds the repository below the address of the server. */
const folderOf = ({ serviceProvider }: ProviderForm, identifier: string): string =>
  serviceProvider === 'bitbucket_data_center' ? `scm/${identifier}` : identifier;

interface TriedHook extends KnownHook {
  readonly workspaceId: string;
}

const runsOf = async (cluster: Cluster, workspaceId: string): Promise<number> =>
  (await cluster.api('GET', `workspaces/${workspaceId}/runs`)).body.data.length as number;

/** A workspace in a separate organization, whose repository has a commit that was not delivered. */
const connect = async (
  cluster: Cluster,
  server: RepositoryServer,
  form: ProviderForm,
): Promise<TriedHook> => {
  const { serviceProvider } = form;
  const organization = serviceProvider.replaceAll('_', '-');
  const identifier = `${organization}/infra`;
  await server.commit(folderOf(form, identifier), { 'main.tf': '1' });
  await create(cluster, 'organizations', 'organizations', {
    name: organization,
    email: 'a@b.example',
  });
  const at = `organizations/${organization}`;
  const pool = await create(cluster, `${at}/agent-pools`, 'agent-pools', { name: 'pool' });
  const client = await create(cluster, `${at}/oauth-clients`, 'oauth-clients', {
    'service-provider': serviceProvider,
    'http-url': server.url,
    'api-url': `${server.url}/api`,
    'oauth-token-string': 'token-of-the-provider',
  });
  const workspace = await create(cluster, `${at}/workspaces`, 'workspaces', {
    name: 'tried',
    'execution-mode': 'agent',
    'agent-pool-id': pool.id,
    'queue-all-runs': true,
    'vcs-repo': {
      identifier,
      'oauth-token-id': client.relationships['oauth-tokens'].data[0].id,
    },
  });
  const workspaceId = workspace.id as string;
  const url = new URL(workspace.attributes['vcs-repo']['webhook-url'] as string);
  const isRegistered = ({ body }: RepositoryServer['calls'][number]): boolean =>
    JSON.stringify(body).includes(url.pathname);
  const calls = await until(
    () => Promise.resolve(server.calls),
    (all) => all.some(isRegistered),
  );
  const registered = JSON.stringify(calls.find(isRegistered)?.body);
  const secret = /"(?:secret|token)":"([^"]+)"/.exec(registered)?.[1] ?? '';
  // The run of the connection itself.
  await until(
    () => runsOf(cluster, workspaceId),
    (runs) => runs === 1,
  );
  const waitingSha = await server.commit(folderOf(form, identifier), { 'main.tf': '2' });
  return { form, path: url.pathname.replace('/api/v2', ''), secret, waitingSha, workspaceId };
};

/** A genuine delivery still starts a run, and nothing has started another one. */
const conclude = async (
  cluster: Cluster,
  hooks: readonly TriedHook[],
): Promise<readonly string[]> => {
  const broken: string[] = [];
  for (const { form, path, secret, waitingSha, workspaceId } of hooks) {
    const found = await runsOf(cluster, workspaceId);
    if (found !== 1) {
      broken.push(`${form.serviceProvider}: ${found - 1} runs of bad deliveries`);
      continue;
    }
    const body = Buffer.from(JSON.stringify(form.push('main', waitingSha)));
    const headers = {
      'content-type': 'application/json',
      [form.eventHeader]: form.pushEvent,
      [form.deliveryHeader]: 'genuine',
      ...form.sign(body, secret),
    };
    const { status } = await send(cluster, { path, headers, body });
    if (status !== 202) broken.push(`${form.serviceProvider}: ${status} for a genuine delivery`);
    else
      await until(
        () => runsOf(cluster, workspaceId),
        (runs) => runs === 2,
      );
  }
  return broken;
};

const run = async (context: ChaosContext): Promise<ChaosReport> => {
  await using server = await startRepositoryServer();
  server.answer = () => ({ status: 201, body: { id: 7, uuid: '{7}' } });
  const hooks: TriedHook[] = [];
  // Awaited here, as the server goes when this returns.
  return await tryServer(context, {
    environment: {
      KEELSON_OUTBOUND_RANGES: '127.0.0.1',
      KEELSON_PUBLIC_URL: 'https://keelson.example',
    },
    prepare: async (cluster) => {
      for (const form of PROVIDER_FORMS) hooks.push(await connect(cluster, server, form));
      return badDeliveries(hooks);
    },
    send: judge,
    show: ({ kind, path, headers, body }) =>
      `${kind} ${path} ${JSON.stringify(headers)} ${Buffer.from(body.subarray(0, 1000)).toString()}`,
    conclude: (cluster) => conclude(cluster, hooks),
  });
};

export const webhookInput: Chaos = {
  name: 'vcs',
  promise:
    'R4 forged, damaged, repeated and oversized webhook deliveries are refused: no crash, no undocumented ' +
    '5xx, no answer over 1 s, memory flat, and no run but those of genuine deliveries',
  unit: 'inputs',
  counts: { full: 1_000_000, short: 3000 },
  run,
};
