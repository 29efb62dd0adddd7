/**
 * Repositories that would harm whoever reads them, and webhooks that would harm whoever receives them, as a table
 * *attempt → held by*: the problem that the workspace shows, or null where the content does no harm, and for webhooks
 * the answer. `hostile-answers` has the servers and packs that no git writes; here git itself serves what it accepts.
 */
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { findFetchWorkers } from '../../../test/fetch-workers.ts';
import { startRepositoryHarness } from '../../../test/repository-harness.ts';

const CANARY = '/tmp/keelson-hostile-canary';
const TOUCH = `touch ${CANARY}`;

const repositories = await startRepositoryHarness();
const { harness, server, connect, repositoryOf, versionsOf, deliver, pushed, reset } = repositories;
const { hookOf, logOf } = repositories;
afterAll(() => repositories[Symbol.asyncDispose]());
beforeEach(reset);

interface Target {
  readonly identifier: string;
  /** The first commit. */
  readonly first: string;
}

const IDENTITY = ['-c', 'user.name=Ada', '-c', 'user.email=ada@b.example'];

/** Runs git in the repository as it is served, without a working copy. */
const git = ({ identifier }: Target, args: readonly string[], input = ''): string =>
  execFileSync('git', args, { cwd: join(server.folder, `${identifier}.git`), input })
    .toString()
    .trim();

const storeFile = (target: Target, content: string): string =>
  git(target, ['hash-object', '-w', '--stdin'], content);

type TreeEntry = readonly [mode: string, type: string, id: string, name: string];

const storeTree = (target: Target, entries: readonly TreeEntry[]): string => {
  const lines = entries.map(([mode, type, id, name]) => `${mode} ${type} ${id}\t${name}\0`);
  return git(target, ['mktree', '-z', '--missing'], lines.join(''));
};

/** Makes a tree the newest commit of the default branch. */
const publish = (target: Target, tree: string): string => {
  const sha = git(target, [...IDENTITY, 'commit-tree', tree, '-m', 'Odd']);
  git(target, ['update-ref', 'refs/heads/main', sha]);
  return sha;
};

const publishFiles = (target: Target, files: Readonly<Record<string, string>>): string =>
  publish(
    target,
    storeTree(
      target,
      Object.entries(files).map(([name, text]) => [
        '100644',
        'blob',
        storeFile(target, text),
        name,
      ]),
    ),
  );

/** A folder of ten folders, each of them the same, so deep; it has 10^depth files. */
const nested = (target: Target, depth: number): string => {
  let tree = storeTree(target, [['100644', 'blob', storeFile(target, 'x'), 'f']]);
  for (let level = 0; level < depth; level += 1) {
    const names = Array.from({ length: 10 }, (_, at) => `d${at}`);
    tree = storeTree(
      target,
      names.map((name) => ['040000', 'tree', tree, name]),
    );
  }
  return tree;
};

/** A commit with links to submodules, and the text of .gitmodules about them. */
const publishModules = (
  target: Target,
  modules: string,
  ...links: readonly (readonly [string, string])[]
): string =>
  publish(
    target,
    storeTree(target, [
      ['100644', 'blob', storeFile(target, modules), '.gitmodules'],
      ...links.map(([name, id]): TreeEntry => ['160000', 'commit', id, name]),
    ]),
  );

const moduleAt =
  (url: string, more = '') =>
  (target: Target): string =>
    publishModules(target, `[submodule "m"]\n\tpath = m\n\turl = "${url}"\n${more}`, [
      'm',
      target.first,
    ]);

const LEVELS = 7;
const REFUSED_ADDRESS = 'submodules are fetched over http and https';
const MANY = 'the repository has more than 100000 files';

type Attempt = readonly [
  attempt: string,
  heldBy: string | RegExp | null,
  publish: (target: Target) => unknown,
];

const CONTENTS: readonly Attempt[] = [
  ['a million files', MANY, (target) => publish(target, nested(target, 6))],
  ['10^12 files in a few trees', MANY, (target) => publish(target, nested(target, 12))],
  [
    'files of 1.2 GB that are packed into a few kB',
    'the repository has more than 1073741824 bytes of files',
    (target) => {
      const id = storeFile(target, '0'.repeat(60_000_000));
      publish(
        target,
        storeTree(
          target,
          Array.from({ length: 20 }, (_, at) => ['100644', 'blob', id, `f${at}`]),
        ),
      );
    },
  ],
  [
    'attributes that name filters and leave files out',
    null,
    (target) =>
      publishFiles(target, {
        '.gitattributes': '* filter=evil export-subst export-ignore diff=evil merge=evil\n',
        'main.tf': '$Format:%H$',
      }),
  ],
  [
    'attributes of a hundred thousand lines',
    null,
    (target) => publishFiles(target, { '.gitattributes': '*.tf filter=evil\n'.repeat(100_000) }),
  ],
  [
    'a configuration and hooks of git as files',
    null,
    (target) =>
      publishFiles(target, {
        config: `[core]\n\tfsmonitor = ${TOUCH}\n`,
        HEAD: 'ref: refs/heads/x',
        'post-checkout': `#!/bin/sh\n${TOUCH}\n`,
      }),
  ],
  [
    'links that lead out of the folder',
    null,
    (target) =>
      publish(
        target,
        storeTree(target, [
          ['120000', 'blob', storeFile(target, '/etc/passwd'), 'README.md'],
          ['120000', 'blob', storeFile(target, '../../../..'), 'up'],
        ]),
      ),
  ],
  [
    'names that differ in case',
    null,
    (target) => publishFiles(target, { 'A.tf': '1', 'a.tf': '2' }),
  ],
  [
    'names that are options, or break a line',
    null,
    (target) =>
      publishFiles(target, { '--upload-pack=x': '1', '-rf': '2', 'a\nb': '3', '$(reboot)': '4' }),
  ],
  [
    'a README of 50 MB',
    null,
    (target) => publishFiles(target, { 'README.md': 'x'.repeat(50_000_000) }),
  ],
  [
    'a history of 3,000 commits',
    null,
    (target) => {
      const commit = (at: number): string =>
        `commit refs/heads/main\ncommitter Ada <ada@b.example> ${1_700_000_000 + at} +0000\ndata 1\nx\n`;
      git(
        target,
        ['fast-import', '--quiet', '--force'],
        Array.from({ length: 3000 }, (_, at) => commit(at)).join(''),
      );
    },
  ],
];

const MODULES: readonly Attempt[] = [
  ['a submodule in a file', REFUSED_ADDRESS, moduleAt('file:///etc')],
  ['a submodule in a folder', REFUSED_ADDRESS, moduleAt('/etc')],
  ['a submodule that is a command', REFUSED_ADDRESS, moduleAt(`ext::sh -c '${TOUCH}'`)],
  [
    'a submodule whose address is an option',
    /git: |submodules are fetched/,
    moduleAt(`--upload-pack=${TOUCH}`),
  ],
  ['a submodule over the protocol of git', REFUSED_ADDRESS, moduleAt('git://127.0.0.1/a.git')],
  ['a submodule over FTP', REFUSED_ADDRESS, moduleAt('ftp://127.0.0.1/a.git')],
  [
    'a submodule over SSH, whose host is an option',
    REFUSED_ADDRESS,
    moduleAt(`ssh://-oProxyCommand=${TOUCH}/x`),
  ],
  ['a submodule over SSH, without a key', REFUSED_ADDRESS, moduleAt('git@127.0.0.1:a.git')],
  [
    'a submodule with credentials in its address',
    REFUSED_ADDRESS,
    moduleAt('http://a:b@127.0.0.1/a.git'),
  ],
  [
    'a submodule at the metadata of a cloud',
    'permits no address',
    moduleAt('http://169.254.169.254/a.git'),
  ],
  ['a submodule at a private address', 'permits no address', moduleAt('http://10.0.0.1/a.git')],
  [
    'a submodule at a loopback address of IPv6',
    'permits no address',
    moduleAt('http://[::1]/a.git'),
  ],
  [
    'a submodule whose address breaks a line',
    /git: |submodules are fetched/,
    moduleAt('http://127.0.0.1/a%0ahost=evil.example/x.git'),
  ],
  [
    'a submodule whose update is a command',
    /git: |^the submodule/,
    moduleAt('../main.git', `\tupdate = !${TOUCH}\n`),
  ],
  [
    'a submodule whose path leads out of the folder',
    null,
    (target) =>
      publishModules(target, `[submodule "m"]\n\tpath = ../../m\n\turl = ../x.git\n`, [
        'm',
        target.first,
      ]),
  ],
  [
    'a submodule whose name leads out of the folder',
    'git: ',
    (target) =>
      publishModules(target, `[submodule "../../m"]\n\tpath = m\n\turl = ../x.git\n`, [
        'm',
        target.first,
      ]),
  ],
  [
    'a .gitmodules that is no configuration',
    'git: ',
    (target) => publishModules(target, '[[[\0', ['m', target.first]),
  ],
  [
    'a .gitmodules that includes a file',
    /submodules are fetched|git: |^the submodule/,
    moduleAt('/etc', '[include]\n\tpath = /etc/passwd\n'),
  ],
  [
    'a submodule that is not there',
    /^the submodule m: git: /,
    (target) =>
      publishModules(target, `[submodule "m"]\n\tpath = m\n\turl = ../none.git\n`, [
        'm',
        target.first,
      ]),
  ],
  [
    'submodules in each other',
    'the repository has more than 5 levels of submodules',
    (target) => {
      const own = `[submodule "m"]\n\tpath = m\n\turl = ../${target.identifier.split('/')[1]}.git\n`;
      let at = target.first;
      for (let level = 0; level < LEVELS; level += 1) at = publishModules(target, own, ['m', at]);
    },
  ],
  [
    '60 submodules',
    'the repository has more than 50 submodules',
    (target) => {
      const names = Array.from({ length: 60 }, (_, at) => `m${at}`);
      const own = names.map(
        (name) =>
          `[submodule "${name}"]\n\tpath = ${name}\n\turl = ../${target.identifier.split('/')[1]}.git\n`,
      );
      publishModules(target, own.join(''), ...names.map((name) => [name, target.first] as const));
    },
  ],
  [
    '10^12 files, where submodules are wanted',
    MANY,
    (target) => publish(target, nested(target, 12)),
  ],
];

const NO_PROBLEM = 'no problem';

/** Connects a workspace to a repository, and fetches it. */
const follow = async (
  repository: object,
  prepare: Attempt[2],
): Promise<{ readonly id: string; readonly problem: string }> => {
  const { id, identifier, first } = await connect({}, repository);
  prepare({ identifier, first });
  await harness.runUpkeep();
  return { id, problem: (await repositoryOf(id))['problem'] ?? NO_PROBLEM };
};

test.for(CONTENTS)('%s: held by %s', async ([, heldBy, prepare]) => {
  const { id, problem } = await follow({}, prepare);
  expect(problem).toMatch(heldBy ?? NO_PROBLEM);
  const { status } = (await versionsOf(id)).list[0]?.attributes ?? {};
  expect(status === 'uploaded').toBe(heldBy === null);
});

test.for(MODULES)('%s: held by %s', async ([, heldBy, prepare]) => {
  const { problem } = await follow({ 'ingress-submodules': true }, prepare);
  expect(problem).toMatch(heldBy ?? NO_PROBLEM);
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
    const { id } = await connect();
    expect((await deliver(id, payload)).status).toBe(status);
  });

  test.for([
    ['nothing', ''],
    ['no JSON', '{'],
    ['100,000 levels', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['a million entries', `[${'0,'.repeat(1_000_000)}0]`],
    ['bytes that are no text', Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
  ] as const)('with %s is refused with 400', async ([, body]) => {
    const { id } = await connect();
    expect((await deliverRaw(id, body)).status).toBe(400);
  });

  test('with another secret, or twice, under its id or another, is refused', async () => {
    const { id } = await connect();
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
    git({ identifier, first }, ['update-ref', 'refs/heads/--upload-pack=x', first]);
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
  expect(existsSync(CANARY)).toBe(false);
  expect(findFetchWorkers()).toEqual([]);
  const metrics = await harness.registry.metrics();
  for (const kind of ['crash', 'limit', 'protocol'])
    expect(metrics).toContain(`keelson_worker_deaths_total{kind="${kind}"} 0`);
});
