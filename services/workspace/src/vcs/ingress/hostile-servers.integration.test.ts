/**
 * Servers and repositories that would harm the service, seen from the workspace that follows them:
 *
 * | the server or the repository             | seen on the workspace                                       |
 * | ---------------------------------------- | ----------------------------------------------------------- |
 * | never answers, or a little at a time     | `vcs-repo.problem` names the time limit; the fetch is ended |
 * | sends more than may be transferred       | problem, and an errored run with the limit                  |
 * | has too many files                       | problem, and an errored run with the limit                  |
 * | has a submodule at `file://`             | problem, and an errored run with the reason                 |
 * | has a submodule at a private address     | `vcs-repo.problem` names the address                        |
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startRepositoryHarness } from '../../../test/repository-harness.ts';

const LIMIT_BYTES = 2_000_000;

const repositories = await startRepositoryHarness({
  config: { workspaceFetchLimitBytes: LIMIT_BYTES },
});
const { harness, server, runs, connect, discardAll, deliver, pushed, reset } = repositories;
const { repositoryOf, runsOf, versionsOf } = repositories;
/** Nothing else is fetched here: on a busy machine, every fetch may take as long. */
const hurried = await startRepositoryHarness({ config: { workspaceFetchTimeLimitSeconds: 2 } });
afterAll(async () => {
  await repositories[Symbol.asyncDispose]();
  await hurried[Symbol.asyncDispose]();
});
beforeEach(reset);

test('a server that never answers, or goes on forever, is given up at the time limit', async () => {
  for (const drip of [false, true]) {
    hurried.server.beforeGit = (_request, response) => {
      if (drip) {
        response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' });
        const dripping = setInterval(() => response.write('0'), 20);
        response.once('close', () => clearInterval(dripping));
      }
      return true;
    };
    const { id } = await hurried.connect();
    await hurried.harness.runUpkeep();
    expect((await hurried.repositoryOf(id))['problem']).toContain('took longer than the 2 seconds');
  }
});

/** Delivers a push, and returns the log of the run that fails because of it. */
const failPush = async (id: string, sha: string): Promise<string> => {
  await deliver(id, pushed('refs/heads/main', sha));
  await harness.runUpkeep();
  const [run] = await runsOf(id);
  expect(await runs.statusOf(run?.id ?? '')).toBe('errored');
  const plan = await harness.call('GET', `/runs/${run?.id}/plan`);
  return (await harness.transfer('GET', String(plan.data.attributes['log-read-url']))).text;
};

test('a repository that is too large is given up at the limit', async () => {
  const { id, identifier } = await connect({ 'queue-all-runs': true });
  await harness.runUpkeep();
  await discardAll(id);
  const sha = await server.commit(identifier, {
    'large.bin': randomBytes(3_000_000).toString('hex'),
  });
  const limit = `the repository is larger than the ${LIMIT_BYTES} bytes that a fetch may transfer`;
  expect(await failPush(id, sha)).toContain(limit);
  expect((await repositoryOf(id))['problem']).toBe(limit);
});

test('a repository with too many files is given up', async () => {
  const { id, identifier } = await connect({ 'queue-all-runs': true });
  await harness.runUpkeep();
  await discardAll(id);
  const git = (args: readonly string[], input = ''): string =>
    execFileSync('git', args, { cwd: join(server.folder, `${identifier}.git`), input })
      .toString()
      .trim();
  const file = git(['hash-object', '-w', '--stdin'], 'x');
  const names = Array.from({ length: 100_001 }, (_, index) => `100644 blob ${file}\t${index}\n`);
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@b.example'];
  const tree = git(['mktree'], names.join(''));
  const sha = git([...identity, 'commit-tree', tree, '-m', 'Many files']);
  git(['update-ref', 'refs/heads/main', sha]);
  const limit = 'the repository has more than 100000 files';
  expect(await failPush(id, sha)).toContain(limit);
  expect((await repositoryOf(id))['problem']).toBe(limit);
  expect((await versionsOf(id)).list[0]?.attributes).toMatchObject({
    status: 'errored',
    'error-message': limit,
  });
});

test.for([
  ['file:///etc', 'the submodule m is at file:///etc', true],
  ['http://10.0.0.1/a/b.git', 'the address policy permits no address of 10.0.0.1', false],
] as const)('a submodule at %s is refused', async ([url, reason, isFinal]) => {
  const { id, identifier, first } = await connect({ 'queue-all-runs': true });
  await harness.runUpkeep();
  await discardAll(id);
  await server.commit(identifier, {
    '.gitmodules': `[submodule "m"]\n\tpath = m\n\turl = ${url}\n`,
  });
  await server.git(identifier, 'update-index', '--add', '--cacheinfo', `160000,${first},m`);
  await server.git(identifier, 'commit', '--quiet', '--message=link');
  await server.git(identifier, 'push', '--quiet', 'origin', 'main');
  const sha = await server.git(identifier, 'rev-parse', 'HEAD');
  await harness.call('PATCH', `/workspaces/${id}`, {
    data: { type: 'workspaces', attributes: { 'vcs-repo': { 'ingress-submodules': true } } },
  });
  await deliver(id, pushed('refs/heads/main', sha));
  await harness.runUpkeep();
  expect((await repositoryOf(id))['problem']).toContain(reason);
  if (!isFinal) return;
  const [run] = await runsOf(id);
  expect(await runs.statusOf(run?.id ?? '')).toBe('errored');
});
