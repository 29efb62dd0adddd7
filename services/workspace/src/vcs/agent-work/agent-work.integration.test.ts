/**
 * Repositories at providers that only agents reach: an OAuth client names a pool, whose agents do all that the
 * control plane does at other providers.
 *
 * | endpoint | success | refused |
 * | --- | --- | --- |
 * | POST /agent-repository-work/actions/claim | 200, 204 if none waits | other pools 404 |
 * | POST /agent-repository-work/:id/actions/report-commit | 200 with addresses for archives | not claimed any more 404, a request 409 |
 * | PUT /uploads/repository-archives/:id/:kind | 204 | unsigned 403, too early 404, not gzip 400 |
 * | PATCH /agent-repository-work/:id | 204 | not claimed any more 404 |
 */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { archiveOf } from '../../../test/configuration-archive.ts';
import { startRepositoryHarness } from '../../../test/repository-harness.ts';

const O = '/organizations/acme';
const MINUTE_MS = 60_000;
const SHA = 'a'.repeat(40);

const LIMIT = 10;

const repositories = await startRepositoryHarness({
  limits: { repositoryWork: LIMIT },
});
const { harness, runs, server, newIdentifier, createClient, createWorkspace } = repositories;
const { repositoryOf, versionsOf, runsOf, deliver, pushed, logOf, reset } = repositories;
afterAll(() => repositories[Symbol.asyncDispose]());
/** Nothing but agents may reach the provider. */
beforeEach(() => {
  reset();
  server.answer = () => {
    throw new Error('the control plane has called the provider');
  };
  server.beforeGit = (_request, response) => {
    response.writeHead(500).end();
    return true;
  };
});

const [agentId = '', otherAgentId = ''] = runs.agentIds;
const claim = (id = agentId) =>
  runs.asPool('POST', '/agent-repository-work/actions/claim', { data: { type: 'agents', id } });
const reportCommit = (workId: string, attributes: object = {}) =>
  runs.asPool('POST', `/agent-repository-work/${workId}/actions/report-commit`, {
    data: {
      type: 'agent-repository-work',
      attributes: {
        'default-branch': 'main',
        commit: { sha: SHA, author: 'Ada', message: 'Change main.tf' },
        'changed-files': null,
        ...attributes,
      },
    },
  });
const end = async (workId: string, attributes: object) => {
  const data = { type: 'agent-repository-work', attributes };
  return (await runs.asPool('PATCH', `/agent-repository-work/${workId}`, { data })).status;
};
const FINISHED = { status: 'finished' };

/** A workspace whose provider only the agents of the pool reach; its webhook is registered by one of them. */
const connect = async (attributes: object = {}, repository: object = {}) => {
  const client = await createClient('token-of-the-provider', O, runs.poolId);
  const identifier = newIdentifier();
  const given = { 'oauth-token-id': client.tokenId, ...repository };
  const id = await createWorkspace('private', identifier, attributes, given);
  await harness.runUpkeep();
  const registration = (await claim()).data;
  await end(registration.id, { ...FINISHED, 'answer-status': 201, 'answer-body': '{"id":7}' });
  return { id, identifier, client, registration };
};
/** The agent fetches a commit with these files. */
const fetchAs = async (commit: object = {}, files: Record<string, string> = { 'main.tf': '' }) => {
  const work = (await claim()).data;
  const found = await reportCommit(work.id, commit);
  const archives = found.data.attributes['archives'] as { 'upload-url': string }[];
  for (const archive of archives) {
    const sent = await harness.transfer('PUT', archive['upload-url'], await archiveOf(files));
    expect(sent.status).toBe(204);
  }
  expect(await end(work.id, FINISHED)).toBe(204);
  return { work, archives };
};
/** Statuses of commits that wait to be reported. */
const reportAll = async () => {
  const reported: unknown[] = [];
  await harness.runUpkeep();
  for (;;) {
    const work = await claim();
    if (work.status === 204) return reported;
    const { method, url, body } = work.data.attributes;
    reported.push([method, String(url).split('/').at(-1), JSON.parse(String(body)).state]);
    await end(work.data.id, { ...FINISHED, 'answer-status': 201, 'answer-body': '{}' });
  }
};
const discard = async (workspaceId: string) => {
  for (const { id } of await runsOf(workspaceId)) await runs.act(id, 'discard');
  await reportAll();
};
const push = async (workspaceId: string, branch = 'main') => {
  const { status } = await deliver(workspaceId, pushed(`refs/heads/${branch}`, SHA));
  expect(status).toBe(202);
  await harness.runUpkeep();
};

describe('a workspace whose provider only agents reach', () => {
  test('gets its webhook and its files through an agent', async () => {
    const { id, identifier, registration, client } = await connect();
    expect(registration).toMatchObject({
      type: 'agent-repository-work',
      attributes: {
        kind: 'request',
        method: 'POST',
        url: `${server.url}/api/repos/${identifier}/hooks`,
        headers: { authorization: 'Bearer token-of-the-provider' },
      },
    });
    const hook = await repositories.hookOf(id);
    expect(hook).toMatchObject({ providerId: '7', hookProblem: null });
    const files = { 'README.md': 'Read me', 'main.tf': '' };
    const { work, archives } = await fetchAs({}, files);
    expect(work.attributes).toEqual({
      kind: 'fetch',
      'clone-url': `${server.url}/${identifier}.git`,
      username: 'x-access-token',
      token: 'token-of-the-provider',
      ref: null,
      'only-if-default-branch': null,
      'base-sha': null,
      'time-limit-seconds': 120,
      'limit-bytes': 256 * 1024 * 1024,
      'archive-limit-bytes': 100 * 1024 * 1024,
    });
    expect(archives).toMatchObject([{ 'with-submodules': false }]);
    const { list, included } = await versionsOf(id);
    expect(list[0]?.attributes).toMatchObject({ status: 'uploaded', source: 'github' });
    expect(included[0]?.attributes).toMatchObject({ 'commit-sha': SHA, branch: 'main' });
    const readme = await harness.call('GET', `/workspaces/${id}?include=readme`);
    expect(readme.included[0]?.attributes['raw-markdown']).toBe('Read me');
    const shown = await harness.call('GET', `/oauth-clients/${client.id}`);
    expect(shown.data.relationships['agent-pool']?.data).toEqual({
      type: 'agent-pools',
      id: runs.poolId,
    });
  });

  test('has runs from pushes, whose statuses an agent reports', async () => {
    const { id } = await connect({ 'queue-all-runs': true });
    await fetchAs();
    await discard(id);
    await push(id);
    const { work } = await fetchAs({ commit: { sha: 'b'.repeat(40), author: '', message: 'Two' } });
    expect(work.attributes).toMatchObject({
      ref: 'refs/heads/main',
      'only-if-default-branch': 'main',
    });
    expect((await runsOf(id))[0]?.attributes['message']).toBe('Two');
    expect(await reportAll()).toEqual([['POST', 'b'.repeat(40), 'pending']]);
    await discard(id);
    // A branch that no workspace follows, unless it is the default branch.
    await push(id, 'other');
    const ignored = (await claim()).data;
    expect(ignored.attributes['only-if-default-branch']).toBe('other');
    const found = await reportCommit(ignored.id, { commit: null });
    expect(found.data.attributes['archives']).toEqual([]);
    expect(await end(ignored.id, FINISHED)).toBe(204);
    expect((await logOf(id))[0]).toMatchObject({
      outcome: 'done',
      detail: 'the workspace follows another branch',
    });
  });

  test('gets an archive with submodules if it wants them, and only if its files are concerned', async () => {
    const { id } = await connect(
      { 'trigger-patterns': ['**/*.tf'] },
      { 'ingress-submodules': true },
    );
    expect((await fetchAs()).archives).toMatchObject([{ 'with-submodules': true }]);
    await push(id);
    expect((await fetchAs({ 'changed-files': ['a.md'] })).archives).toEqual([]);
    expect((await logOf(id))[0]).toMatchObject({ detail: 'no monitored file has changed' });
  });

  test('shows why an agent has failed; the work is tried again, or given up', async () => {
    const { id } = await connect({ 'queue-all-runs': true });
    const failed = (await claim()).data;
    const reason = {
      status: 'errored',
      'error-message': 'git.internal cannot be reached: ETIMEDOUT',
    };
    expect(await end(failed.id, reason)).toBe(204);
    expect((await repositoryOf(id))['problem']).toBe(reason['error-message']);
    expect((await claim()).status).toBe(204);
    harness.clock.advance(5000);
    await fetchAs();
    expect((await repositoryOf(id))['problem']).toBeNull();
    await discard(id);
    await push(id);
    const last = (await claim()).data;
    const final = { ...reason, 'error-message': 'the repository is too large', 'is-final': true };
    expect(await end(last.id, final)).toBe(204);
    expect((await runsOf(id))[0]?.attributes['status']).toBe('errored');
    await reportAll();
  });

  test('shows what the provider has answered an agent', async () => {
    const client = await createClient('token-of-the-provider', O, runs.poolId);
    const repository = { 'oauth-token-id': client.tokenId };
    const id = await createWorkspace('refused', newIdentifier(), {}, repository);
    await harness.runUpkeep();
    const body = '{"message":"Bad credentials"}';
    const work = (await claim()).data;
    await end(work.id, { ...FINISHED, 'answer-status': 401, 'answer-body': body });
    const { host } = new URL(server.url);
    expect((await repositories.hookOf(id))?.hookProblem).toBe(
      `the webhook cannot be registered: ${host} answered with 401: Bad credentials`,
    );
    await fetchAs();
    await harness.call('DELETE', `/oauth-clients/${client.id}`);
  });
});

describe('work through an OAuth client that administrators switch off', () => {
  const turn = (clientId: string, isDisabled: boolean) =>
    harness.call('PATCH', `/admin/oauth-clients/${clientId}`, {
      data: { type: 'oauth-clients', attributes: { 'is-disabled': isDisabled } },
    });
  const failed = { outcome: 'failed', detail: expect.stringContaining('is disabled') as string };

  test('is given up when an agent asks for it', async () => {
    const { id, client } = await connect();
    await fetchAs();
    await push(id);
    await turn(client.id, true);
    expect((await claim()).status).toBe(204);
    expect((await logOf(id))[0]).toMatchObject(failed);
    await turn(client.id, false);
    expect((await claim()).status).toBe(204);
  });

  test('is taken from the agent that has it, or comes to nothing when the agent has ended it before', async () => {
    const { id, client } = await connect();
    await fetchAs();
    await push(id);
    const taken = (await claim()).data;
    await turn(client.id, true);
    await harness.runUpkeep();
    expect((await reportCommit(taken.id)).status).toBe(404);
    expect((await logOf(id))[0]).toMatchObject(failed);
    await turn(client.id, false);

    await push(id);
    const ended = (await claim()).data;
    await reportCommit(ended.id, { commit: null });
    await turn(client.id, true);
    expect(await end(ended.id, FINISHED)).toBe(204);
    expect((await logOf(id))[0]).toMatchObject(failed);
    await turn(client.id, false);
    expect((await claim()).status).toBe(204);
  });
});

describe('work that no agent does', () => {
  test('is shown after a minute, waits for an agent, and is given up after a night', async () => {
    const { id } = await connect({ 'queue-all-runs': true });
    await fetchAs();
    await discard(id);
    await push(id);
    harness.clock.advance(MINUTE_MS + 1);
    await harness.runUpkeep();
    expect((await repositoryOf(id))['problem']).toContain('no agent of the pool pool');
    await fetchAs({ commit: { sha: 'c'.repeat(40), author: '', message: 'Three' } });
    expect((await repositoryOf(id))['problem']).toBeNull();
    await discard(id);
    await push(id);
    harness.clock.advance(16 * 60 * MINUTE_MS + 1);
    await harness.runUpkeep();
    const [run] = await runsOf(id);
    expect(run?.attributes['status']).toBe('errored');
    const plan = await harness.call('GET', `/runs/${run?.id}/plan`);
    const log = await harness.transfer('GET', String(plan.data.attributes['log-read-url']));
    expect(log.text).toContain('no agent of the pool pool');
    await runs.wait(0);
  });

  test('is given to the same agent after its restart', async () => {
    await connect();
    const lost = (await claim()).data;
    expect((await claim(otherAgentId)).status).toBe(204);
    const again = (await claim()).data;
    expect(again.id).not.toBe(lost.id);
    expect((await reportCommit(lost.id)).status).toBe(404);
    expect(await end(lost.id, FINISHED)).toBe(404);
    expect(await end(again.id, { status: 'errored', 'is-final': true })).toBe(204);
  });

  test.for([
    [
      'is silent for a minute',
      'is silent',
      () => Promise.resolve(harness.clock.advance(MINUTE_MS)),
    ],
    ['goes on without an end', 'did not end it in time', () => runs.wait(6 * MINUTE_MS)],
  ] as const)('is given to another agent when the one that has it %s', async ([, what, pass]) => {
    const { id } = await connect();
    const kept = (await claim()).data;
    await runs.wait(MINUTE_MS / 2);
    await harness.runUpkeep();
    expect((await repositoryOf(id))['problem']).toBeNull();
    await pass();
    await harness.runUpkeep();
    expect((await repositoryOf(id))['problem']).toBe(`the agent one, which had the work, ${what}`);
    expect(await end(kept.id, FINISHED)).toBe(404);
    harness.clock.advance(5000);
    const taken = (await claim(otherAgentId)).data;
    expect(taken.attributes['kind']).toBe('fetch');
    expect(await end(taken.id, { status: 'errored', 'is-final': true })).toBe(204);
  });

  test('is given up after three agents that were lost with it, or whose workers died', async () => {
    const { id } = await connect({ 'queue-all-runs': true });
    const death = {
      status: 'errored',
      'error-message': 'the worker died: by the signal SIGKILL',
      'worker-died': true,
    };
    expect(await end((await claim()).data.id, death)).toBe(204);
    harness.clock.advance(5000);
    expect((await claim()).status).toBe(200);
    harness.clock.advance(MINUTE_MS);
    await harness.runUpkeep();
    harness.clock.advance(MINUTE_MS / 2);
    expect(await end((await claim(otherAgentId)).data.id, death)).toBe(204);
    expect((await repositoryOf(id))['problem']).toBe(death['error-message']);
    harness.clock.advance(10 * MINUTE_MS);
    expect((await claim()).status).toBe(204);
    expect((await repositoryOf(id))['problem']).toBe(
      'it was given up after 3 attempts, each of which ended the process that made it',
    );
    const metrics = await harness.registry.metrics();
    expect(metrics).toContain('keelson_worker_deaths_total{kind="agent"} 2');
    expect(metrics).toContain('keelson_work_given_up_total 1');
    // A newer push is other work.
    await push(id);
    await fetchAs();
    expect((await repositoryOf(id))['problem']).toBeNull();
    await discard(id);
  });

  test('that an agent reports as failed, and not as a death, is not given up after three attempts', async () => {
    const { id } = await connect();
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      const { data } = await claim();
      expect(await end(data.id, { status: 'errored', 'error-message': `${attempt}` })).toBe(204);
      expect((await repositoryOf(id))['problem']).toBe(`${attempt}`);
      harness.clock.advance(60 * MINUTE_MS);
    }
    await fetchAs();
    expect((await repositoryOf(id))['problem']).toBeNull();
  });

  test('is one piece for all pushes to a branch, until an agent takes it', async () => {
    const { id } = await connect();
    await fetchAs();
    await push(id);
    await push(id);
    const { data: first } = await claim();
    expect((await claim(otherAgentId)).status).toBe(204);
    expect(await logOf(id)).toMatchObject([{ outcome: 'queued' }, { outcome: 'ignored' }]);
    await push(id);
    harness.clock.advance(1);
    const { data: second } = await claim(otherAgentId);
    expect(second.attributes['ref']).toBe('refs/heads/main');
    for (const work of [first, second])
      expect(await end(work.id, { status: 'errored', 'is-final': true })).toBe(204);
  });

  test('counts towards the limit of the organization', async () => {
    const { id } = await connect();
    await fetchAs();
    const statuses: number[] = [];
    for (let index = 0; index <= LIMIT; index += 1) {
      const { status } = await deliver(id, pushed(`refs/tags/v${index}`, SHA));
      statuses.push(status);
      await harness.runUpkeep();
    }
    expect(statuses).toEqual([...Array.from({ length: LIMIT }, () => 202), 429]);
    // Tags concern no workspace that follows a branch: no agent is needed for them.
    expect((await claim()).status).toBe(204);
  });

  test('is done by the control plane once the client names no pool', async () => {
    const { id, identifier, client } = await connect();
    await fetchAs();
    await push(id);
    await harness.call('PATCH', `/oauth-clients/${client.id}`, {
      data: {
        type: 'oauth-clients',
        attributes: {},
        relationships: { 'agent-pool': { data: null } },
      },
    });
    server.beforeGit = () => false;
    const sha = await server.commit(identifier, { 'main.tf': '' });
    expect((await claim()).status).toBe(204);
    await harness.runUpkeep();
    const { included } = await versionsOf(id);
    expect(included[0]?.attributes['commit-sha']).toBe(sha);
  });
});

describe('what does not fit is refused', () => {
  test('uploads that are not announced, and reports about other work', async () => {
    await connect();
    const work = (await claim()).data;
    const found = await reportCommit(work.id);
    const [archive] = found.data.attributes['archives'] as { 'upload-url': string }[];
    const url = archive?.['upload-url'] ?? '';
    const put = async (address: string, bytes: Uint8Array) =>
      (await harness.transfer('PUT', address, bytes)).status;
    expect(await put(url.replace('/plain', '/with-submodules'), gzipSync(''))).toBe(403);
    expect(await put(url, Buffer.from('no archive'))).toBe(400);
    // Nothing was uploaded.
    expect(await end(work.id, FINISHED)).toBe(204);
    expect(await put(url, gzipSync(''))).toBe(404);
    const refused = await reportCommit(work.id, {
      commit: { sha: '--x', author: '', message: '' },
    });
    expect(refused.status).toBe(422);
  });

  test('an agent pool of another organization, and the deletion of one that a client names', async () => {
    await harness.create('/organizations', 'organizations', {
      name: 'globex',
      email: 'a@b.example',
    });
    const pools = '/organizations/globex/agent-pools';
    const pool = await harness.create(pools, 'agent-pools', { name: 'theirs' });
    await expect(createClient('token', O, pool.id)).rejects.toThrow('agent pool does not exist');
    const client = await createClient('token', '/organizations/globex', pool.id);
    const kept = await harness.call('DELETE', `/agent-pools/${pool.id}`);
    expect([kept.status, kept.errors[0]?.detail]).toEqual([
      409,
      expect.stringContaining(client.id),
    ]);
    await harness.call('DELETE', `/oauth-clients/${client.id}`);
    expect((await harness.call('DELETE', `/agent-pools/${pool.id}`)).status).toBe(204);
  });
});
