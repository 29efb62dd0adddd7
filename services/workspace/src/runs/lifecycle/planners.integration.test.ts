/** Callers who may plan but not apply in a workspace. */
import { afterAll, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';

const O = '/organizations/acme';
const { harness, makeWorkspace, tryQueue, act, workspaceOf } = await startRunHarness();
afterAll(() => harness[Symbol.asyncDispose]());

let serial = 0;

/** The token of a user whose team has this access to the workspace, and the id of the grant. */
const userWith = async (workspaceId: string, attributes: object) => {
  serial += 1;
  const team = await harness.create(`${O}/teams`, 'teams', { name: `team-${serial}` });
  const relationships = {
    team: { data: { type: 'teams', id: team.id } },
    workspace: { data: { type: 'workspaces', id: workspaceId } },
  };
  const grant = await harness.create('/team-workspaces', 'team-workspaces', attributes, {
    relationships,
  });
  return { token: (await harness.addUser(`user-${serial}`, team.id)).token, grantId: grant.id };
};

test('runs of callers who may only plan are not applied automatically', async () => {
  const workspaceId = await makeWorkspace({ 'auto-apply': true });
  const { token, grantId } = await userWith(workspaceId, { access: 'plan' });
  expect((await tryQueue(workspaceId, { 'auto-apply': true }, token)).status).toBe(404);
  const { status, data } = await tryQueue(workspaceId, {}, token);
  expect([status, data.attributes['auto-apply']]).toEqual([201, false]);
  const shown = (may: boolean) => ({
    'can-apply': may,
    'can-cancel': may,
    'can-comment': true,
    'can-discard': may,
    'can-force-cancel': false,
    'can-force-execute': false,
  });
  expect(data.attributes['permissions']).toMatchObject(shown(false));
  const widened = { data: { type: 'team-workspaces', attributes: { access: 'write' } } };
  await harness.call('PATCH', `/team-workspaces/${grantId}`, widened);
  const seen = await harness.call('GET', `/runs/${data.id}`, undefined, token);
  expect(seen.data.attributes['permissions']).toMatchObject(shown(true));
  await act(data.id, 'discard');
});

test.for([
  [{ access: 'plan' }, false],
  [{ access: 'custom', runs: 'plan' }, false],
  [{ access: 'write' }, true],
] as const)('whether a destroy plan can be queued with %j: %s', async ([access, may]) => {
  const workspaceId = await makeWorkspace();
  const { token } = await userWith(workspaceId, access);
  const shown = await harness.call('GET', `/workspaces/${workspaceId}`, undefined, token);
  expect(shown.data.attributes['permissions']).toMatchObject({ 'can-queue-destroy': may });
  for (const more of [{}, { 'plan-only': true }]) {
    const { status } = await tryQueue(workspaceId, { 'is-destroy': true, ...more }, token);
    expect(status).toBe(may ? 201 : 404);
  }
  const { relationships } = await workspaceOf(workspaceId);
  expect(relationships['current-run']?.data === null).toBe(!may);
});
