/** Client requests for runs and for their parts at paths outside /runs. */
import { afterAll, describe, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';

const O = '/organizations/acme';
const { harness, makeWorkspace, queue, tryQueue, uploadTo, act } = await startRunHarness();
afterAll(() => harness[Symbol.asyncDispose]());

describe('a run of the CLI', () => {
  const CLOUD = { 'terraform-version': '1.11.4', 'x-terraform-integration': 'cloud' };
  test.for([
    [{}, {}, 'tfe-api', 'Triggered via API'],
    [CLOUD, {}, 'terraform+cloud', 'Triggered via CLI'],
    [{ 'terraform-version': '1.11.4' }, {}, 'terraform', 'Triggered via CLI'],
    [{ 'x-terraform-integration': 'tfe' }, {}, 'tfe-api', 'Triggered via API'],
    [CLOUD, { message: 'mine' }, 'terraform+cloud', 'mine'],
  ] as const)('with %j and %j has the source %s and the message %s', async (row) => {
    const [headers, attributes, source, message] = row;
    const workspaceId = await makeWorkspace();
    const relationships = { workspace: { data: { type: 'workspaces', id: workspaceId } } };
    const body = { data: { type: 'runs', attributes, relationships } };
    const { status, data } = await harness.call('POST', '/runs', body, undefined, headers);
    expect(status).toBe(201);
    expect(data.attributes).toMatchObject({ source, message });
    const { list } = await harness.call(
      'GET',
      `${O}/runs?filter[source]=${encodeURIComponent(source)}`,
    );
    expect(list.map(({ id }) => id)).toContain(data.id);
    await act(data.id, 'discard');
  });
});

describe('a run without a configuration', () => {
  const repository = async () => {
    const client = await harness.create(`${O}/oauth-clients`, 'oauth-clients', {
      'service-provider': 'github',
      'http-url': 'https://github.example',
      'api-url': 'https://api.github.example',
      'oauth-token-string': 'secret',
    });
    const { list } = await harness.call('GET', `/oauth-clients/${client.id}/oauth-tokens`);
    return { identifier: 'acme/app', 'oauth-token-id': list[0]?.id };
  };

  test.for([
    [
      'of a workspace with a repository names vcs-repo',
      true,
      /its repository has not been fetched; vcs-repo of GET .* names the problem/,
    ],
    ['of another says what is missing', false, /no configuration: upload one/],
  ] as const)('%s', async ([, hasRepository, text]) => {
    const workspace = await harness.create(`${O}/workspaces`, 'workspaces', {
      name: hasRepository ? 'with-repository' : 'without',
      ...(hasRepository && { 'vcs-repo': await repository() }),
    });
    const { status, errors } = await tryQueue(workspace.id);
    expect([status, errors[0]?.source?.pointer]).toEqual([
      422,
      '/data/relationships/configuration-version/data/id',
    ]);
    expect(errors[0]?.detail).toMatch(text);
    // The uploaded configuration can be run.
    await uploadTo(workspace.id);
    const queued = await tryQueue(workspace.id);
    expect(queued.status).toBe(201);
    await act(queued.data.id, 'discard');
  });
});

describe('below the address of a run', () => {
  test('its plan, apply and configuration are the same as at their own addresses', async () => {
    const workspaceId = await makeWorkspace();
    const { id: versionId } = await uploadTo(workspaceId);
    const runId = await queue(workspaceId);
    for (const [name, own] of [
      ['plan', `/plans/${runId.replace('run-', 'plan-')}`],
      ['apply', `/applies/${runId.replace('run-', 'apply-')}`],
      ['configuration-version', `/configuration-versions/${versionId}`],
    ]) {
      const { status, data } = await harness.call('GET', `/runs/${runId}/${name}`);
      expect([name, status]).toEqual([name, 200]);
      expect(data).toEqual((await harness.call('GET', String(own))).data);
      expect((await harness.call('GET', `/runs/run-none/${name}`)).status).toBe(404);
    }
    await act(runId, 'discard');
  });
});

test('an uploaded configuration has no commit', async () => {
  const { id } = await uploadTo(await makeWorkspace());
  const shown = await harness.call('GET', `/configuration-versions/${id}/ingress-attributes`);
  expect([shown.status, shown.data]).toEqual([200, null]);
});
