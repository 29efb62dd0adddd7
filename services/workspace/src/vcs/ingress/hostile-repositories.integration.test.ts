/**
 * Repositories that would harm whoever reads them, as a table *attempt → held by*: the problem that the workspace
 * shows, or null where the content does no harm. `hostile-answers` has the servers and packs that no git writes; here
 * git itself serves what it accepts. A release is proved by these tables, a commit by `untrusted-repositories`.
 */
import { existsSync } from 'node:fs';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { findFetchWorkers } from '../../../test/fetch-workers.ts';
import {
  git,
  moduleAt,
  nested,
  publish,
  publishFiles,
  publishModules,
  storeFile,
  storeTree,
  type Target,
} from '../../../test/odd-commits.ts';
import { startRepositoryHarness } from '../../../test/repository-harness.ts';

const CANARY = '/tmp/keelson-hostile-canary';
const TOUCH = `touch ${CANARY}`;

const repositories = await startRepositoryHarness();
const { harness, server, connect, repositoryOf, versionsOf, reset } = repositories;
afterAll(() => repositories[Symbol.asyncDispose]());
beforeEach(reset);

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
  prepare({ server, identifier, first });
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
