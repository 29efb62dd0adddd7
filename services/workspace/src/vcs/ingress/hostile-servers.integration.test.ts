/**
 * Servers and repositories that would harm the service, seen from the workspace that follows them:
 *
 * | the server or the repository             | seen on the workspace                                       |
 * | ---------------------------------------- | ----------------------------------------------------------- |
 * | never answers, or a little at a time     | `vcs-repo.problem` names the time limit; the fetch is ended |
 * | sends more than may be transferred       | `vcs-repo.problem` names the limit                          |
 * | has a submodule at `file://`             | problem, and an errored run with the reason                 |
 * | has a submodule at a private address     | `vcs-repo.problem` names the address                        |
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startRepositoryHarness } from '../../../test/repository-harness.ts';

const repositories = await startRepositoryHarness({
  config: { workspaceFetchTimeLimitSeconds: 2, workspaceFetchLimitBytes: 500_000 },
});
const { harness, server, runs, connect, discardAll, repositoryOf, runsOf, deliver, pushed, reset } =
  repositories;
afterAll(() => repositories[Symbol.asyncDispose]());
beforeEach(reset);

test('a server that never answers, or goes on forever, is given up at the time limit', async () => {
  for (const drip of [false, true]) {
    server.beforeGit = (_request, response) => {
      if (drip) {
        response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' });
        const dripping = setInterval(() => response.write('0'), 20);
        response.once('close', () => clearInterval(dripping));
      }
      return true;
    };
    const { id } = await connect();
    await harness.runUpkeep();
    expect((await repositoryOf(id))['problem']).toContain('took longer than the 2 seconds');
  }
});

test('a repository that is too large is given up at the limit', async () => {
  const { id, identifier } = await connect({ 'queue-all-runs': true });
  await harness.runUpkeep();
  await discardAll(id);
  const sha = await server.commit(identifier, {
    'large.bin': randomBytes(1_500_000).toString('hex'),
  });
  await deliver(id, pushed('refs/heads/main', sha));
  await harness.runUpkeep();
  expect((await repositoryOf(id))['problem']).toContain('larger than the 500000 bytes');
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
