/**
 * Repositories of workspaces, from the webhook to the status of the commit, with the real git and a server
 * of repositories that answers as GitHub does:
 *
 * | endpoint | success | refused |
 * | --- | --- | --- |
 * | POST /webhooks/repositories/:id | 202 | unsigned 403, unknown 404, replayed 409, too large 413, malformed 400 |
 * | GET /workspaces/:id/repository-deliveries | 200 in pages | not an administrator 404 |
 * | GET /configuration-versions/:id/ingress-attributes | 200 | 404 |
 */
import { startSshServer } from '@keelson/testkit';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { type Sending, startRepositoryHarness } from '../../test/repository-harness.ts';

const O = '/organizations/acme';
const repositories = await startRepositoryHarness();
const {
  harness,
  runs,
  server,
  newIdentifier,
  createClient,
  createWorkspace,
  connect,
  repositoryOf,
  hookOf,
  deliver,
  pushed,
  runsOf,
  versionsOf,
  logOf,
  statuses,
  discardAll,
  reset,
} = repositories;
afterAll(() => repositories[Symbol.asyncDispose]());
beforeEach(reset);

describe('a workspace with a repository', () => {
  test('has a webhook at the provider, and the files of the branch', async () => {
    const { id, identifier, first } = await connect();
    await harness.runUpkeep();
    const hook = await hookOf(id);
    expect(server.calls).toMatchObject([
      {
        method: 'POST',
        path: `/api/repos/${identifier}/hooks`,
        headers: { authorization: 'Bearer token-of-the-provider' },
        body: {
          events: ['push', 'pull_request'],
          config: {
            url: `https://keelson.example/api/v2/webhooks/repositories/${hook?.id}`,
            secret: hook?.secret,
          },
        },
      },
    ]);
    expect(await repositoryOf(id)).toMatchObject({ problem: null });
    expect(JSON.stringify(await runs.workspaceOf(id))).not.toContain(hook?.secret);
    const versions = await versionsOf(id);
    expect(versions.list.map(({ attributes }) => attributes)).toMatchObject([
      { status: 'uploaded', source: 'github', speculative: false },
    ]);
    expect(versions.included.map(({ attributes }) => attributes)).toMatchObject([
      { 'commit-sha': first, branch: 'main', 'on-default-branch': true, identifier },
    ]);
    const path = `/configuration-versions/${versions.list[0]?.id}/ingress-attributes`;
    expect((await harness.call('GET', path)).data).toEqual(versions.included[0]);
    // A person queues the first run, which works on these files.
    expect(await runsOf(id)).toEqual([]);
    expect((await runs.tryQueue(id)).status).toBe(201);
    await discardAll(id);
  });

  test('loses its webhook with the last workspace of the repository', async () => {
    const { id, identifier } = await connect();
    const other = await createWorkspace('sharing', identifier, {}, {});
    await harness.runUpkeep();
    await harness.call('DELETE', `/workspaces/${id}`);
    await harness.runUpkeep();
    expect(server.calls).toHaveLength(1);
    await harness.call('PATCH', `/workspaces/${other}`, {
      data: { type: 'workspaces', attributes: { 'vcs-repo': null } },
    });
    await harness.runUpkeep();
    expect(server.calls.slice(1)).toMatchObject([
      { method: 'DELETE', path: `/api/repos/${identifier}/hooks/7` },
    ]);
  });

  test('that is corrected before it could be fetched is fetched once', async () => {
    const { id } = await connect({ 'queue-all-runs': true }, { branch: 'mian' });
    await harness.runUpkeep();
    expect((await repositoryOf(id))['problem']).toContain('mian');
    await harness.call('PATCH', `/workspaces/${id}`, {
      data: { type: 'workspaces', attributes: { 'vcs-repo': { branch: 'main' } } },
    });
    await harness.runUpkeep();
    expect((await repositoryOf(id))['problem']).toBeNull();
    // The next attempt at the first connection would be due by then.
    harness.clock.advance(3_600_000);
    await harness.runUpkeep();
    expect(await runsOf(id)).toHaveLength(1);
    await discardAll(id);
  });

  test('reports what cannot be reached, retries, and loses nothing', async () => {
    server.answer = () => ({ status: 401, body: { message: 'Bad credentials' } });
    server.beforeGit = (_request, response) => {
      response.writeHead(500).end();
      return true;
    };
    const { id } = await connect({ 'queue-all-runs': true });
    await harness.runUpkeep();
    expect((await repositoryOf(id))['problem']).toContain('500');
    server.beforeGit = () => false;
    harness.clock.advance(5000);
    await harness.runUpkeep();
    const { host } = new URL(server.url);
    expect((await repositoryOf(id))['problem']).toBe(
      `the webhook cannot be registered: ${host} answered with 401: Bad credentials`,
    );
    expect(await runsOf(id)).toHaveLength(1);
    server.answer = () => ({ status: 201, body: { id: 8 } });
    harness.clock.advance(60_000);
    await harness.runUpkeep();
    expect((await repositoryOf(id))['problem']).toBeNull();
    await discardAll(id);
  });

  test('has an errored run with the reason why a commit cannot be fetched', async () => {
    const { id, identifier } = await connect({ 'queue-all-runs': true });
    await harness.runUpkeep();
    await discardAll(id);
    const inner = await server.commit(identifier, {
      '.gitmodules': '[submodule "m"]\n\tpath = m\n\turl = ssh://git@host.example/a.git\n',
    });
    await server.git(identifier, 'update-index', '--add', '--cacheinfo', `160000,${inner},m`);
    await server.git(identifier, 'commit', '--quiet', '--message=link');
    await server.git(identifier, 'push', '--quiet', 'origin', 'main');
    const sha = await server.git(identifier, 'rev-parse', 'HEAD');
    await harness.call('PATCH', `/workspaces/${id}`, {
      data: { type: 'workspaces', attributes: { 'vcs-repo': { 'ingress-submodules': true } } },
    });
    await deliver(id, pushed('refs/heads/main', sha));
    await harness.runUpkeep();
    const [failed] = await runsOf(id);
    expect(failed?.attributes['status']).toBe('errored');
    const plan = await harness.call('GET', `/runs/${failed?.id}/plan`);
    const log = await harness.transfer('GET', String(plan.data.attributes['log-read-url']));
    expect(log.text).toContain('the submodule m is at ssh://git@host.example/a.git');
    expect((await versionsOf(id)).list[0]?.attributes).toMatchObject({
      status: 'errored',
      error: 'fetch_failed',
      'error-message': expect.stringContaining('ssh://'),
    });
  });
});

describe('a submodule at an SSH address', () => {
  test('is fetched with the SSH key of the OAuth token, once it has one', async () => {
    await using ssh = await startSshServer(server.folder);
    const client = await createClient('token-with-a-key');
    const inner = await server.commit('acme/inner', { 'inner.tf': '' });
    const identifier = newIdentifier();
    const url = `ssh://git@${ssh.authority}/acme/inner.git`;
    await server.commit(identifier, {
      '.gitmodules': `[submodule "m"]\n\tpath = m\n\turl = ${url}\n`,
    });
    await server.git(identifier, 'update-index', '--add', '--cacheinfo', `160000,${inner},m`);
    await server.git(identifier, 'commit', '--quiet', '--message=link');
    await server.git(identifier, 'push', '--quiet', 'origin', 'main');
    const repository = { 'oauth-token-id': client.tokenId, 'ingress-submodules': true };
    const keyless = await createWorkspace('keyless', identifier, {}, repository);
    await harness.runUpkeep();
    expect((await repositoryOf(keyless))['problem']).toContain(
      'over SSH where the OAuth token has an SSH key',
    );
    const given = { name: 'submodules', value: ssh.privateKey };
    const key = await harness.create(`${O}/ssh-keys`, 'ssh-keys', given);
    const assigned = await harness.call('PATCH', `/oauth-tokens/${client.tokenId}`, {
      data: {
        type: 'oauth-tokens',
        relationships: { 'ssh-key': { data: { type: 'ssh-keys', id: key.id } } },
      },
    });
    expect([assigned.status, assigned.meta]).toEqual([200, undefined]);
    const id = await createWorkspace('with-key', identifier, {}, repository);
    await harness.runUpkeep();
    expect((await repositoryOf(id))['problem']).toBeNull();
    expect((await versionsOf(id)).list[0]?.attributes['status']).toBe('uploaded');
    expect(ssh.commands).toContain("git-upload-pack '/acme/inner.git'");
  });
});

describe('a push', () => {
  test('starts a run although other work at repositories cannot be read', async () => {
    const [lost, other] = [await connect(), await connect()];
    await harness.runUpkeep();
    for (const { id, identifier, first } of [lost, other]) {
      const sha = await server.commit(identifier, { 'main.tf': '2' });
      await deliver(id, pushed('refs/heads/main', sha, first));
      harness.clock.advance(1);
    }
    const prefix = 'shared/repository-work/';
    const [path = ''] = await harness.store.stored.listPaths('replicated', prefix, 1);
    expect(path).toContain(prefix);
    const kept = await harness.store.stored.read([path]);
    await harness.store.applyRecords('damage', [{ path, stored: Buffer.from([0]) }]);
    await harness.runUpkeep();
    const versions = async (id: string) => (await versionsOf(id)).list.length;
    expect([await versions(lost.id), await versions(other.id)]).toEqual([1, 2]);
    await harness.store.applyRecords('repair', kept);
    await harness.runUpkeep();
    expect(await versions(lost.id)).toBe(2);
  });

  test.for([
    [true, 'confirmed', null],
    [false, 'planned', 'waits for a confirmation: auto-apply of the workspace was switched off'],
  ] as const)(
    'with auto-apply %s at the end of its plan leads to a run that is %s',
    async ([isAutomatic, status, description]) => {
      const { id, identifier, first } = await connect({
        'queue-all-runs': true,
        'auto-apply': true,
      });
      await harness.runUpkeep();
      await discardAll(id);
      const sha = await server.commit(identifier, { 'main.tf': '2' });
      await deliver(id, pushed('refs/heads/main', sha, first));
      await harness.runUpkeep();
      const runId = (await runsOf(id))[0]?.id ?? '';
      await runs.claim();
      await harness.call('PATCH', `/workspaces/${id}`, {
        data: { type: 'workspaces', attributes: { 'auto-apply': isAutomatic } },
      });
      await runs.finish(runId);
      expect(await runs.statusOf(runId)).toBe(status);
      const { list } = await harness.call('GET', `/runs/${runId}/run-events`);
      expect(list.at(-1)?.attributes).toMatchObject({ action: status, description });
      await runs.act(runId, isAutomatic ? 'cancel' : 'discard');
    },
  );

  test('starts a run, whose progress is reported as status of the commit', async () => {
    const { id, identifier, first } = await connect({ 'queue-all-runs': true });
    await harness.runUpkeep();
    await discardAll(id);
    // Equal contents committed in the same second would have the same hash as in the repository of another test.
    const sha = await server.commit(identifier, { 'main.tf': 'progress' });
    expect((await deliver(id, pushed('refs/heads/main', sha, first))).status).toBe(202);
    await harness.runUpkeep();
    const [run] = await runsOf(id);
    const runId = run?.id ?? '';
    expect(run?.attributes).toMatchObject({ status: 'pending', message: 'Change main.tf' });
    for (const step of [
      runs.claim,
      () => runs.finish(runId),
      () => runs.act(runId, 'apply'),
      runs.claim,
      () => runs.finish(runId),
    ]) {
      harness.clock.advance(1);
      await step();
      await harness.runUpkeep();
    }
    expect(statuses()).toEqual([
      [sha, 'pending', 'The run is queued'],
      [sha, 'pending', 'The plan is running'],
      [sha, 'pending', 'Waits to be confirmed: 2 to add, 0 to change, 0 to destroy'],
      [sha, 'pending', 'The apply is running'],
      [sha, 'pending', 'The apply is running'],
      [sha, 'success', 'Applied'],
    ]);
    const name = String((await runs.workspaceOf(id)).attributes['name']);
    expect(server.calls[0]?.body).toMatchObject({
      context: `keelson/acme/${name}`,
      target_url: `https://keelson.example/app/acme/${name}/runs/${runId}`,
    });
    const found = await harness.call('GET', `${O}/runs?search[commit]=${sha.slice(0, 8)}`);
    expect(found.list.map((one) => one.id)).toEqual([runId]);
    expect(await logOf(id)).toMatchObject([
      {
        event: 'push',
        outcome: 'done',
        detail: expect.stringMatching(/^a run of cv-\w+ was queued$/),
      },
    ]);
  });

  test('affects the workspaces that follow its branch and whose files it changes', async () => {
    const all: Record<string, object> = {
      inFolder: { 'working-directory': 'network' },
      outside: { 'working-directory': 'compute' },
      prefixed: { 'working-directory': 'x', 'trigger-prefixes': ['/network'] },
      pattern: { 'trigger-patterns': ['**/*.tf'] },
      noPattern: { 'trigger-patterns': ['*.md'] },
      always: { 'working-directory': 'y', 'file-triggers-enabled': false },
    };
    const { id: everything, identifier, first } = await connect();
    await server.commit(identifier, { 'x.tf': '' }, 'other');
    await server.git(identifier, 'checkout', '--quiet', 'main');
    const ids: Record<string, string> = {
      everything,
      otherBranch: await createWorkspace('other', identifier, {}, { branch: 'other' }),
      tags: await createWorkspace('tags', identifier, {}, { 'tags-regex': '^v' }),
    };
    for (const [name, attributes] of Object.entries(all))
      ids[name] = await createWorkspace(name, identifier, attributes, {});
    await harness.runUpkeep();
    const sha = await server.commit(identifier, { 'network/main.tf': '2' });
    await deliver(everything, pushed('refs/heads/main', sha, first));
    await harness.runUpkeep();
    const ingested: string[] = [];
    for (const [name, id] of Object.entries(ids))
      if ((await versionsOf(id)).list.length > 1) ingested.push(name);
    expect(ingested.toSorted()).toEqual([
      'always',
      'everything',
      'inFolder',
      'pattern',
      'prefixed',
    ]);
    expect((await logOf(ids['outside'] ?? ''))[0]?.['detail']).toBe(
      'no monitored file has changed',
    );
  });

  test('that waits when another of its branch arrives is left to that one', async () => {
    const { id, identifier, first } = await connect({
      'queue-all-runs': true,
      'working-directory': 'network',
    });
    await harness.runUpkeep();
    await discardAll(id);
    // Only the first of the three changes a file that the workspace watches.
    const commits = [first];
    for (const file of ['network/main.tf', 'one.md', 'two.md']) {
      const sha = await server.commit(identifier, { [file]: '2' });
      expect((await deliver(id, pushed('refs/heads/main', sha, commits.at(-1)))).status).toBe(202);
      commits.push(sha);
      harness.clock.advance(1);
    }
    const fetches: string[] = [];
    server.beforeGit = ({ url = '' }) => {
      if (url.includes('/info/refs')) fetches.push(url);
      return false;
    };
    await harness.runUpkeep();
    const { included } = await versionsOf(id);
    expect(included.map(({ attributes }) => attributes['commit-sha'])).toEqual([
      commits.at(-1),
      first,
    ]);
    expect(await runsOf(id)).toHaveLength(2);
    // The reference, its commit, and the commit before the first of the pushes.
    expect(fetches).toHaveLength(3);
    const superseded = expect.stringContaining('a newer event of the same branch');
    expect(await logOf(id)).toMatchObject([
      { outcome: 'done', detail: expect.stringMatching(/^a run of cv-\w+ was queued$/) },
      { outcome: 'ignored', detail: superseded },
      { outcome: 'ignored', detail: superseded },
    ]);
    await discardAll(id);
  });

  test('that creates the branch which a workspace waits for starts one run', async () => {
    const { id, identifier } = await connect({ 'queue-all-runs': true }, { branch: 'topic' });
    await harness.runUpkeep();
    expect((await repositoryOf(id))['problem']).toContain('topic');
    expect(await runsOf(id)).toEqual([]);
    const sha = await server.commit(identifier, { 'main.tf': '2' }, 'topic');
    await deliver(id, pushed('refs/heads/topic', sha));
    await harness.runUpkeep();
    expect(await runsOf(id)).toHaveLength(1);
    expect((await repositoryOf(id))['problem']).toBeNull();
    // The next attempt at the connection would be due by then.
    harness.clock.advance(3_600_000);
    await harness.runUpkeep();
    expect(await runsOf(id)).toHaveLength(1);
    await discardAll(id);
  });

  test('that arrives while another of its branch is fetched is looked at afterwards', async () => {
    const { id, identifier, first } = await connect({ 'queue-all-runs': true });
    await harness.runUpkeep();
    await discardAll(id);
    const earlier = await server.commit(identifier, { 'main.tf': '2' });
    const later = await server.commit(identifier, { 'main.tf': '3' });
    await deliver(id, pushed('refs/heads/main', earlier, first));
    let delivering: Promise<unknown> | undefined;
    server.beforeGit = () => {
      delivering ??= deliver(id, pushed('refs/heads/main', later, earlier));
      return false;
    };
    await harness.runUpkeep();
    await delivering;
    await harness.runUpkeep();
    expect(await logOf(id)).toMatchObject([
      { outcome: 'done', detail: `the workspace has the configuration of ${later} already` },
      { outcome: 'done', detail: expect.stringMatching(/^a run of cv-\w+ was queued$/) },
    ]);
    await discardAll(id);
  });
});

test('of a tag starts a run if the tag matches', async () => {
  const repository = { 'tags-regex': String.raw`^v\d+\.\d+\.\d+$` };
  const { id, identifier, first } = await connect({ 'queue-all-runs': true }, repository);
  await harness.runUpkeep();
  await discardAll(id);
  for (const tag of ['v1.0.0', 'nightly']) {
    harness.clock.advance(1);
    await server.git(identifier, 'tag', tag, first);
    await server.git(identifier, 'push', '--quiet', 'origin', tag);
    await deliver(id, pushed(`refs/tags/${tag}`, first));
  }
  await harness.runUpkeep();
  const { included } = await versionsOf(id);
  expect(included.map(({ attributes }) => attributes['tag'])).toEqual(['v1.0.0', null]);
  await discardAll(id);
});

describe('a pull request', () => {
  const opened = (identifier: string, sha: string, base: string, from = identifier) => ({
    action: 'opened',
    number: 3,
    pull_request: {
      title: 'Larger machines',
      body: 'because',
      html_url: 'https://github.example/pull/3',
      head: { ref: 'topic', sha, repo: { full_name: from } },
      base: { ref: 'main', sha: base, repo: { full_name: identifier } },
    },
  });

  test('is planned, and cannot be applied', async () => {
    const { id, identifier, first } = await connect({ 'queue-all-runs': true, 'auto-apply': true });
    await harness.runUpkeep();
    await discardAll(id);
    const sha = await server.commit(identifier, { 'main.tf': 'pr' }, 'topic');
    await deliver(id, opened(identifier, sha, first), { event: 'pull_request' });
    await harness.runUpkeep();
    const [run] = await runsOf(id);
    expect(run?.attributes).toMatchObject({ 'plan-only': true, message: 'Larger machines' });
    await runs.claim();
    await runs.finish(run?.id ?? '');
    await harness.runUpkeep();
    expect(statuses().at(-1)?.slice(0, 2)).toEqual([sha, 'success']);
    const { included } = await versionsOf(id);
    expect(included.map(({ attributes }) => attributes)).toContainEqual(
      expect.objectContaining({
        'is-pull-request': true,
        'pull-request-number': 3,
        branch: 'topic',
        'on-default-branch': false,
      }),
    );
  });

  test('of a fork, or with speculative-enabled false, starts nothing', async () => {
    const { id, identifier, first } = await connect({ 'speculative-enabled': false });
    await harness.runUpkeep();
    const sha = await server.commit(identifier, { 'main.tf': 'pr' }, 'topic');
    await deliver(id, opened(identifier, sha, first), { event: 'pull_request' });
    harness.clock.advance(1);
    await deliver(id, opened(identifier, sha, first, 'mallory/fork'), { event: 'pull_request' });
    await harness.runUpkeep();
    expect((await versionsOf(id)).list).toHaveLength(1);
    expect(await logOf(id)).toMatchObject([
      { outcome: 'ignored' },
      { detail: 'speculative-enabled is false' },
    ]);
  });
});

describe('a delivery is refused', () => {
  test('when it is forged, replayed, malformed, too large or for an unknown webhook', async () => {
    const { id, first } = await connect();
    await harness.runUpkeep();
    const push = pushed('refs/heads/main', first);
    const statusOf = async (payload: object, sending: Sending = {}) =>
      (await deliver(id, payload, sending)).status;
    expect(await statusOf(push, { secret: 'guessed' })).toBe(403);
    expect(await statusOf(push, { deliveryId: 'one' })).toBe(202);
    expect(await statusOf(pushed('refs/heads/main', first), { deliveryId: 'one' })).toBe(409);
    // The id is not signed, the body is.
    expect(await statusOf(push, { deliveryId: 'two' })).toBe(409);
    expect(await statusOf({ ...push, after: '--upload-pack=x' })).toBe(400);
    expect(await statusOf({ ...push, ref: 'refs/heads/a:b' })).toBe(400);
    expect(await statusOf({ ...push, filler: 'x'.repeat(25 * 1024 * 1024) })).toBe(413);
    const manyFiles = Array.from({ length: 60_000 }, (_, index) => `file-${index}.tf`);
    expect(await statusOf({ ...push, commits: [{ added: manyFiles }] })).toBe(202);
    const nowhere = await harness.call('POST', '/webhooks/repositories/whk-none', push, null);
    expect(nowhere.status).toBe(404);
    expect(await logOf(id)).toHaveLength(2);
  });

  test('once its connection is deleted, which also removes the webhook', async () => {
    const client = await createClient('another-token');
    const { id, first } = await connect({}, { 'oauth-token-id': client.tokenId });
    await harness.runUpkeep();
    const hook = await hookOf(id);
    await harness.call('DELETE', `/oauth-clients/${client.id}`);
    await harness.runUpkeep();
    expect(server.calls.at(-1)).toMatchObject({
      method: 'DELETE',
      headers: { authorization: 'Bearer another-token' },
    });
    const path = `/webhooks/repositories/${hook?.id}`;
    const late = await harness.call('POST', path, pushed('refs/heads/main', first), null);
    expect(late.status).toBe(404);
  });
});
