/**
 * Repositories and servers that would harm the service, one attempt of each kind, and webhooks that would harm whoever
 * receives them: what every commit proves. The tables of `hostile-answers`, `hostile-repositories` and
 * `hostile-servers` have all attempts, and are proved for a release.
 */
import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findFetchWorkers, WorkerFolders } from '../../../test/fetch-workers.ts';
import {
  answerFetch,
  commitContent,
  entry,
  inPackets,
  objectId,
  packOf,
  treeContent,
} from '../../../test/hostile-packs.ts';
import { git, moduleAt, nested, publish, type Target } from '../../../test/odd-commits.ts';
import { startRepositoryHarness } from '../../../test/repository-harness.ts';

const repositories = await startRepositoryHarness();
const { harness, server, connect, repositoryOf, versionsOf, deliver, pushed, reset } = repositories;
const { hookOf, logOf } = repositories;
afterAll(() => repositories[Symbol.asyncDispose]());
beforeEach(reset);

const folders = new WorkerFolders();

/** Connects a workspace to a repository, and fetches it. @returns the problem that it shows */
const follow = async (
  prepare: (target: Target) => unknown,
  repository: object = {},
): Promise<string | null | undefined> => {
  const { id, identifier, first } = await connect({}, repository);
  prepare({ server, identifier, first });
  await harness.runUpkeep();
  return (await repositoryOf(id))['problem'];
};

/** Has the server answer in place of git. */
const answering = (answer: (...to: Parameters<typeof server.beforeGit>) => unknown) => {
  server.beforeGit = (request, response) => {
    folders.note();
    void answer(request, response);
    return true;
  };
};

test('a redirect to a private address is not followed', async () => {
  answering((_request, response: ServerResponse) =>
    response.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
  );
  expect(await follow(() => undefined)).toContain('error: 302');
});

test('a tree with a folder .git is refused by git', async () => {
  const empty = objectId('tree', Buffer.alloc(0));
  const tree = treeContent(['40000', '.git', empty]);
  const commit = commitContent(objectId('tree', tree));
  const pack = packOf([entry('commit', commit), entry('tree', tree)]);
  answering((request, response) =>
    answerFetch(request, response, objectId('commit', commit), inPackets(pack)),
  );
  expect(await follow(() => undefined)).toContain('git: ');
});

test('10^12 files in a few trees are refused by their number', async () => {
  expect(await follow((target) => publish(target, nested(target, 12)))).toBe(
    'the repository has more than 100000 files',
  );
});

test('a submodule in a file is refused by its address', async () => {
  expect(await follow(moduleAt('file:///etc'), { 'ingress-submodules': true })).toContain(
    'submodules are fetched over http and https',
  );
});

test('a worker that is killed is the problem of its repository', async () => {
  answering((_request, response) => {
    for (const pid of findFetchWorkers()) process.kill(pid, 'SIGKILL');
    response.destroy();
  });
  expect(await follow(() => undefined)).toContain('it ended by the signal SIGKILL');
});

describe('a webhook', () => {
  const ZERO = '0'.repeat(40);
  const sha = '1'.repeat(40);
  /** Sends bytes that are signed, whatever they are. */
  const deliverRaw = async (id: string, body: string | Buffer) => {
    const hook = await hookOf(id);
    const signature = createHmac('sha256', hook?.secret ?? '')
      .update(body)
      .digest('hex');
    const target = `/webhooks/repositories/${hook?.id}`;
    return harness.call('POST', target, Buffer.from(body as string), null, {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-github-delivery': `raw-${(serial += 1)}`,
      'x-hub-signature-256': `sha256=${signature}`,
    });
  };
  let serial = 0;
  /** One workspace receives everything that is refused, because that changes nothing. */
  let receiver = '';
  beforeAll(async () => {
    receiver = (await connect()).id;
  });

  test.for([
    ['a reference with a space', 400, { ref: 'refs/heads/a b', before: ZERO, after: sha }],
    [
      'a reference with a control character',
      400,
      { ref: 'refs/heads/a\u0000b', before: ZERO, after: sha },
    ],
    ['a reference that is a pattern', 400, { ref: 'refs/heads/*', before: ZERO, after: sha }],
    ['a reference that names two', 400, { ref: 'refs/heads/a:b', before: ZERO, after: sha }],
    [
      'a reference of 10,000 letters',
      400,
      { ref: `refs/heads/${'a'.repeat(10_000)}`, before: ZERO, after: sha },
    ],
    [
      'a commit that is an option',
      400,
      { ref: 'refs/heads/a', before: ZERO, after: '--upload-pack=x' },
    ],
    ['a prototype', 400, JSON.parse('{"__proto__":{"ref":"refs/heads/a"},"after":1}') as object],
    ['a list', 400, []],
  ] as const)('with %s is refused with %d', async ([, status, payload]) => {
    expect((await deliver(receiver, payload)).status).toBe(status);
  });

  test.for([
    ['nothing', ''],
    ['no JSON', '{'],
    ['100,000 levels', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['a million entries', `[${'0,'.repeat(1_000_000)}0]`],
    ['bytes that are no text', Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
  ] as const)('with %s is refused with 400', async ([, body]) => {
    expect((await deliverRaw(receiver, body)).status).toBe(400);
  });

  test('with another secret, or twice, under its id or another, is refused', async () => {
    const id = receiver;
    const payload = pushed('refs/heads/main', sha);
    expect((await deliver(id, payload, { secret: 'guessed' })).status).toBe(403);
    expect((await deliver(id, payload, { deliveryId: 'one' })).status).toBe(202);
    expect((await deliver(id, payload, { deliveryId: 'one' })).status).toBe(409);
    expect((await deliver(id, payload, { deliveryId: 'two' })).status).toBe(409);
  });

  test('of a branch that is an option starts what that branch has, and nothing else', async () => {
    const { id, identifier, first } = await connect(
      { 'queue-all-runs': true },
      { branch: '--upload-pack=x' },
    );
    git({ server, identifier, first }, ['update-ref', 'refs/heads/--upload-pack=x', first]);
    await harness.runUpkeep();
    expect((await repositoryOf(id))['problem']).toBeNull();
    expect((await deliver(id, pushed('refs/heads/--upload-pack=x', first))).status).toBe(202);
    await harness.runUpkeep();
    expect((await repositoryOf(id))['problem']).toBeNull();
  });

  test('that comes 60 times at once waits once for each branch', async () => {
    const { id } = await connect();
    await harness.runUpkeep();
    const sent = Array.from({ length: 60 }, (_, at) =>
      deliver(id, pushed(`refs/heads/b${at % 3}`, sha)),
    );
    const statuses = new Set((await Promise.all(sent)).map(({ status }) => status));
    expect([...statuses].every((status) => status === 202 || status === 503)).toBe(true);
    await harness.runUpkeep();
    expect((await logOf(id)).filter(({ outcome }) => outcome === 'queued')).toEqual([]);
  });
});

test('afterwards a polite repository is fetched, and nothing of the attempts remains', async () => {
  const { id } = await connect();
  await harness.runUpkeep();
  expect((await repositoryOf(id))['problem']).toBeNull();
  expect((await versionsOf(id)).list[0]?.attributes['status']).toBe('uploaded');
  expect(findFetchWorkers()).toEqual([]);
  expect(folders.left).toEqual([]);
  const metrics = await harness.registry.metrics();
  for (const [kind, deaths] of Object.entries({ crash: 1, limit: 0, protocol: 0 }))
    expect(metrics).toContain(`keelson_worker_deaths_total{kind="${kind}"} ${deaths}`);
});
