/**
 * Servers and repositories that would harm the service, seen from the workspace that follows them:
 *
 * | the server or the repository             | seen on the workspace                                       |
 * | ---------------------------------------- | ----------------------------------------------------------- |
 * | never answers, or a little at a time     | `vcs-repo.problem` names the time limit; the fetch is ended |
 * | sends more than may be transferred       | problem, and an errored run with the limit                  |
 * | has too many files                       | problem, and an errored run with the limit                  |
 * | has a submodule at `file://`             | problem, and an errored run with the reason                 |
 * | has a submodule at no address            | `vcs-repo.problem` names it                                 |
 * | ends the worker that fetches, each time  | problem, and after three deaths an errored run              |
 *
 * `hostile-answers` and `hostile-repositories` have the attempts that leave no trace but the problem. A release is
 * proved by these tables, a commit by `untrusted-repositories`.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Store } from '@keelson/storage';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { findFetchWorkers } from '../../../test/fetch-workers.ts';
import { startRepositoryHarness } from '../../../test/repository-harness.ts';
import { unendedAttempts } from '../../workspaces/model/repository-attempt-records.ts';

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

/** Links a submodule at an address, and pushes it. @returns the commit */
const linkSubmodule = async (identifier: string, url: string, sha: string): Promise<string> => {
  await server.commit(identifier, {
    '.gitmodules': `[submodule "m"]\n\tpath = m\n\turl = ${url}\n`,
  });
  await server.git(identifier, 'update-index', '--add', '--cacheinfo', `160000,${sha},m`);
  await server.git(identifier, 'commit', '--quiet', '--message=link');
  await server.git(identifier, 'push', '--quiet', 'origin', 'main');
  return server.git(identifier, 'rev-parse', 'HEAD');
};

test('a submodule at file:///etc is refused', async () => {
  const { id, identifier, first } = await connect({ 'queue-all-runs': true });
  await harness.runUpkeep();
  await discardAll(id);
  const sha = await linkSubmodule(identifier, 'file:///etc', first);
  await harness.call('PATCH', `/workspaces/${id}`, {
    data: { type: 'workspaces', attributes: { 'vcs-repo': { 'ingress-submodules': true } } },
  });
  const reason = 'the submodule m is at file:///etc';
  expect(await failPush(id, sha)).toContain(reason);
  expect((await repositoryOf(id))['problem']).toContain(reason);
});

test('a submodule at an address of SSH that is none ends nothing', async () => {
  const { tokenId } = await repositories.createClient('token-with-a-key');
  const key = { name: 'deploy', value: 'PRIVATE KEY' };
  const { id: keyId } = await harness.create('/organizations/acme/ssh-keys', 'ssh-keys', key);
  const given = { 'ssh-key': { data: { type: 'ssh-keys', id: keyId } } };
  const change = { data: { type: 'oauth-tokens', relationships: given } };
  expect((await harness.call('PATCH', `/oauth-tokens/${tokenId}`, change)).status).toBe(200);
  const connection = { 'oauth-token-id': tokenId, 'ingress-submodules': true };
  const { id, identifier, first } = await connect({}, connection);
  await harness.runUpkeep();
  const sha = await linkSubmodule(identifier, 'ssh://git@256.256.256.256/x.git', first);
  await deliver(id, pushed('refs/heads/main', sha));
  await harness.runUpkeep();
  expect((await repositoryOf(id))['problem']).toContain('256.256.256.256');
});

/** As stored: one number for each fetch whose end nobody has reported. */
const countDeaths = async (store: Store): Promise<readonly (number | undefined)[]> => {
  const found: (number | undefined)[] = [];
  for (const organizationId of await unendedAttempts.keys(store, [])) {
    const organization = organizationId.replace(/\/$/, '');
    for (const name of await unendedAttempts.keys(store, [organization]))
      found.push((await unendedAttempts.find(store, organization, name))?.deaths);
  }
  return found;
};

test('a repository that ends its worker each time is given up after three deaths', async () => {
  await using deadly = await startRepositoryHarness();
  const { harness: control, server: provider } = deadly;
  const { id, identifier } = await deadly.connect({ 'queue-all-runs': true });
  await control.runUpkeep();
  await deadly.discardAll(id);
  const sha = await provider.commit(identifier, { 'b.tf': 'deadly' });
  await deadly.deliver(id, deadly.pushed('refs/heads/main', sha));
  const counted: unknown[] = [];
  provider.beforeGit = (_request, response) => {
    void countDeaths(control.store).then((deaths) => {
      counted.push(deaths);
      for (const pid of findFetchWorkers()) process.kill(pid, 'SIGKILL');
      response.destroy();
    });
    return true;
  };
  for (const attempt of [1, 2, 3]) {
    await control.runUpkeep();
    expect((await deadly.repositoryOf(id))['problem'], `attempt ${attempt}`).toContain(
      'the worker that fetched the repository died: it ended by the signal SIGKILL',
    );
    control.clock.advance(60_000);
  }
  // Each attempt was stored before it began.
  expect(counted).toEqual([[1], [2], [3]]);
  await control.runUpkeep();
  expect(counted).toHaveLength(3);
  const reason = 'it was given up after 3 attempts, each of which ended the process that made it';
  const [run] = await deadly.runsOf(id);
  expect(await deadly.runs.statusOf(run?.id ?? '')).toBe('errored');
  expect((await deadly.logOf(id))[0]).toMatchObject({ outcome: 'failed', detail: reason });
  const metrics = await control.registry.metrics();
  expect(metrics).toContain('keelson_worker_deaths_total{kind="crash"} 3');
  expect(metrics).toContain('keelson_work_given_up_total 1');
  expect(await countDeaths(control.store)).toEqual([]);
  // A newer push is other work.
  provider.beforeGit = () => false;
  await deadly.deliver(
    id,
    deadly.pushed('refs/heads/main', await provider.commit(identifier, { 'b.tf': 'mild' })),
  );
  await control.runUpkeep();
  expect((await deadly.repositoryOf(id))['problem']).toBeNull();
});
