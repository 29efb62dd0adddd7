/** A hostile git server and its webhooks, again and again, while three other organizations push. */
import { createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { type RepositoryServer, startRepositoryServer } from '@keelson/testkit';
import { type Cluster, startCluster, until } from '@keelson/testkit/replication-cluster';
import type { Chaos, ChaosContext } from '../chaos.ts';
import { Random } from '../random.ts';

/** With that of the attacker there are four organizations. */
const POLITE_ORGANIZATIONS = 3;
/** Pushes of the attacker in one round, each to a branch of its own. */
const HOSTILE_PUSHES = 4;
const FORGED_DELIVERIES = 20;
/** Far more than the time that one piece of hostile work may take. */
const WITHIN_MS = 150_000;
const SETTINGS = {
  KEELSON_NATS_URL: '',
  KEELSON_RATE_LIMIT: 'off',
  KEELSON_OUTBOUND_RANGES: '127.0.0.1',
  KEELSON_PUBLIC_URL: 'https://keelson.example',
  // A polite fetch on a machine that other work fills takes seconds.
  KEELSON_WORKSPACE_FETCH_TIME_LIMIT_SECONDS: '20',
  KEELSON_WORKSPACE_FETCH_LIMIT_BYTES: '2000000',
};

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const raw =
  (text: string): Answer =>
  (_request, { socket }) =>
    socket?.end(text);
const ADVERTISED = 'application/x-git-upload-pack-advertisement';

/** Answers that no honest git server gives. */
const ANSWERS: readonly (readonly [string, Answer])[] = [
  ['the status 042', raw('HTTP/1.1 042 Odd\r\nContent-Length: 2\r\n\r\nno')],
  ['the status 000', raw('HTTP/1.1 000 None\r\nContent-Length: 2\r\n\r\nno')],
  ['trailers', raw('HTTP/1.1 200 OK\r\nTrailer: x\r\nContent-Length: 2\r\n\r\nno')],
  ['another protocol', raw('SSH-2.0-odd\r\n')],
  ['no answer', (_request, { socket }) => socket?.destroy()],
  ['no end of an answer', (_request, response) => void response.write('0')],
  [
    'a redirect to the metadata of a cloud',
    raw('HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n'),
  ],
  [
    'a body that unpacks to 256 MiB',
    (_request, response) => {
      response.writeHead(200, { 'content-type': ADVERTISED, 'content-encoding': 'gzip' });
      response.end(BOMB);
    },
  ],
  [
    'more than a fetch may transfer',
    (_request, response) => {
      response.writeHead(200, { 'content-type': ADVERTISED });
      response.end(Buffer.alloc(4_000_000, '0'));
    },
  ],
];
const BOMB = gzipSync(Buffer.alloc(256 * 1024 * 1024));

interface Member {
  readonly name: string;
  readonly identifier: string;
  readonly workspaceId: string;
  readonly hook: string;
  readonly secret: string;
}

const create = async (cluster: Cluster, path: string, type: string, attributes: object) => {
  const { status, body } = await cluster.api('POST', path, { data: { type, attributes } });
  if (status !== 201) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body.data;
};

/** An organization with a workspace that follows a repository. */
const join = async (cluster: Cluster, server: RepositoryServer, name: string): Promise<Member> => {
  const identifier = `${name}/infra`;
  await server.commit(identifier, { 'main.tf': '' });
  await create(cluster, 'organizations', 'organizations', { name, email: 'a@b.example' });
  const at = `organizations/${name}`;
  const client = await create(cluster, `${at}/oauth-clients`, 'oauth-clients', {
    'service-provider': 'github',
    'http-url': server.url,
    'api-url': `${server.url}/api`,
    'oauth-token-string': 'token-of-the-provider',
  });
  const workspace = await create(cluster, `${at}/workspaces`, 'workspaces', {
    name: 'followed',
    'execution-mode': 'local',
    'vcs-repo': {
      identifier,
      'oauth-token-id': client.relationships['oauth-tokens'].data[0].id,
    },
  });
  const hook = new URL(workspace.attributes['vcs-repo']['webhook-url'] as string).pathname;
  const registration = (): string | undefined =>
    server.calls.map(({ body }) => JSON.stringify(body)).find((text) => text.includes(hook));
  const registered = await until(
    () => Promise.resolve(registration()),
    (text) => text !== undefined,
  );
  const secret = /"secret":"([^"]+)"/.exec(registered ?? '')?.[1] ?? '';
  return { name, identifier, workspaceId: workspace.id, hook, secret };
};

/** Delivers a push as the provider does. @returns the status */
const deliver = async (
  cluster: Cluster,
  { hook, secret }: Member,
  branch: string,
  sha: string,
  id: string,
): Promise<number> => {
  const push = { ref: `refs/heads/${branch}`, before: '0'.repeat(40), after: sha, id };
  const body = JSON.stringify({
    ...push,
    sender: { login: 'ada', avatar_url: null, html_url: '' },
  });
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'push',
    'x-github-delivery': id,
    'x-hub-signature-256': `sha256=${signature}`,
  };
  const response = await fetch(`${cluster.process().http}${hook}`, {
    method: 'POST',
    headers,
    body,
  });
  await response.arrayBuffer();
  return response.status;
};

const hasConfiguration = async (cluster: Cluster, { workspaceId }: Member, sha: string) => {
  const path = `workspaces/${workspaceId}/configuration-versions?include=ingress_attributes`;
  return JSON.stringify((await cluster.api('GET', path)).body).includes(sha);
};

/** The attacker's pushes and forged deliveries, none of which is waited for. */
const attack = async (cluster: Cluster, attacker: Member, round: number): Promise<void> => {
  const sha = String(round).padStart(40, '0');
  const pushes = Array.from({ length: HOSTILE_PUSHES }, (_, turn) =>
    deliver(cluster, attacker, turn === 0 ? 'main' : `branch-${turn}`, sha, `h-${round}-${turn}`),
  );
  const forged = Array.from({ length: FORGED_DELIVERIES }, (_, turn) =>
    deliver(cluster, { ...attacker, secret: 'false' }, 'main', sha, `f-${round}-${turn}`),
  );
  await Promise.all([...pushes, ...forged]);
};

const run = async ({ count, seed, isOver, say }: ChaosContext) => {
  const random = new Random(seed);
  await using server = await startRepositoryServer();
  const cluster = await startCluster('', SETTINGS);
  const broken: string[] = [];
  let pushes = 0;
  let slowestMs = 0;
  try {
    const attacker = await join(cluster, server, 'attacker');
    const polite: Member[] = [];
    for (let turn = 1; turn <= POLITE_ORGANIZATIONS; turn += 1)
      polite.push(await join(cluster, server, `polite-${turn}`));
    const perform = async (member: Member, round: number): Promise<void> => {
      const sha = await server.commit(member.identifier, { 'main.tf': `# ${round}\n` });
      const startedAt = performance.now();
      const status = await deliver(cluster, member, 'main', sha, `${member.name}-${round}`);
      if (status !== 202) {
        broken.push(`${member.name}: ${status} for a genuine delivery`);
        return;
      }
      const elapsedMs = (): number => performance.now() - startedAt;
      const isConfigured = await until(
        () => hasConfiguration(cluster, member, sha),
        (found) => found || elapsedMs() > WITHIN_MS,
      );
      if (!isConfigured) {
        const { body } = await cluster.api('GET', `workspaces/${member.workspaceId}`);
        const { problem } = body.data.attributes['vcs-repo'];
        broken.push(`${member.name}: no configuration of ${sha} after ${WITHIN_MS} ms: ${problem}`);
        return;
      }
      pushes += 1;
      slowestMs = Math.max(slowestMs, elapsedMs());
    };
    for (let round = 1; round <= count && !isOver(); round += 1) {
      const [name, answer] = random.pick(ANSWERS);
      say(`round ${round}: ${name}`);
      server.beforeGit = (request, response) => {
        if (request.url?.startsWith('/attacker/') !== true) return false;
        answer(request, response);
        return true;
      };
      await Promise.all([
        attack(cluster, attacker, round),
        ...polite.map((member) => perform(member, round)),
      ]);
      const health = await cluster.v1('GET', 'sys/health', undefined, '');
      if (health.status !== 200) broken.push(`${name}: the health is ${health.status}`);
    }
  } finally {
    await cluster.stop();
  }
  return {
    broken,
    figures: { 'pushes of others': pushes, 'the slowest of them, ms': Math.round(slowestMs) },
  };
};

export const hostileServers: Chaos = {
  name: 'hostile-servers',
  promise:
    'R10 a git server that answers as no honest one does, and forged deliveries, end nothing, and each push of three ' +
    'other organizations becomes a configuration meanwhile',
  unit: 'cases',
  counts: { full: 50, short: 3 },
  run,
};
