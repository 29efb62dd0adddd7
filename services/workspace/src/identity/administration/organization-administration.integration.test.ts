/**
 * Administrators of the site switch organizations off, or drain them:
 *
 * | what                 | off                                        | draining            |
 * | -------------------- | ------------------------------------------ | ------------------- |
 * | requests             | 403 with the reason, from the next one on  | as always           |
 * | runs that wait       | wait until the organization is on          | wait until it is on |
 * | phases under way     | are canceled, and store their state        | end                 |
 * | notifications        | wait                                       | are sent            |
 *
 * `callers.integration.test.ts` tries every route of an organization that is off.
 */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startRunHarness } from '../../../test/run-harness.ts';

const runs = await startRunHarness();
const { harness } = runs;
afterAll(() => harness[Symbol.asyncDispose]());

const O = '/organizations/acme';
const change = (attributes: object) =>
  harness.call('PATCH', '/admin/organizations/acme', {
    data: { type: 'organizations', attributes },
  });
const turn = async (attributes: object): Promise<void> => {
  const { status, data } = await change(attributes);
  expect([status, data.attributes]).toMatchObject([200, attributes]);
};
const ON = { 'is-disabled': false, 'is-draining': false };
beforeEach(() => turn(ON));

test('an organization that is off is refused to its members and tokens, until it is on again', async () => {
  const { list } = await harness.call('GET', `${O}/teams`);
  const { token } = await harness.addUser('owner', list[0]?.id ?? '');
  const stranger = await harness.addUser('stranger');
  const made = await harness.create(`${O}/authentication-token`, 'authentication-tokens', {});
  const tokens = [token, String(made.attributes['token']), harness.adminToken];
  await turn({ 'is-disabled': true });
  for (const one of tokens) {
    for (const path of [O, `${O}/workspaces`, `${O}/teams`, `${O}/runs`]) {
      const { status, errors } = await harness.call('GET', path, undefined, one);
      expect([path, status, errors[0]?.detail]).toEqual([
        path,
        403,
        expect.stringContaining('the organization acme is disabled'),
      ]);
    }
  }
  // Strangers learn nothing of it, and its members still see that it is there.
  expect((await harness.call('GET', O, undefined, stranger.token)).status).toBe(404);
  expect((await harness.call('GET', '/organizations', undefined, token)).list).toHaveLength(1);
  await turn({ 'is-disabled': false });
  for (const one of tokens) {
    expect((await harness.call('GET', `${O}/workspaces`, undefined, one)).status).toBe(200);
  }
});

test('the administrators of the site list and show organizations with their switches', async () => {
  await harness.create('/organizations', 'organizations', { name: 'globex', email: 'g@b.example' });
  await turn({ 'is-disabled': true });
  const all = await harness.call('GET', '/admin/organizations');
  expect(all.list.map(({ id, attributes }) => [id, attributes['is-disabled']])).toEqual([
    ['acme', true],
    ['globex', false],
  ]);
  const found = await harness.call('GET', '/admin/organizations?q=GLOB');
  expect(found.list.map(({ id }) => id)).toEqual(['globex']);
  const shown = await harness.call('GET', '/admin/organizations/acme');
  expect(shown.data.attributes).toMatchObject({ 'is-disabled': true, 'is-draining': false });
  expect((await harness.call('GET', '/admin/organizations/none')).status).toBe(404);
  const metrics = await harness.registry.metrics();
  expect(metrics).toContain('keelson_organizations_switched{state="off"} 1');
});

test('an organization that is draining cannot be off as well', async () => {
  const { status, errors } = await change({ 'is-disabled': true, 'is-draining': true });
  expect([status, errors[0]?.source?.pointer]).toEqual([422, '/data/attributes/is-draining']);
  await turn({ 'is-draining': true });
  // Switching it off ends the draining.
  await turn({ 'is-disabled': true });
  await turn(ON);
});

test('a draining organization starts no phase, ends those under way, and serves requests', async () => {
  const first = await runs.queue(await runs.makeWorkspace());
  const claimed = await runs.claim();
  expect(claimed?.id).toBe(first);
  const second = await runs.queue(await runs.makeWorkspace());
  await turn({ 'is-draining': true });
  expect(await runs.claim()).toBeUndefined();
  await harness.runUpkeep();
  expect(await runs.finish(first, false)).toBe(204);
  expect(await runs.statusOf(first)).toBe('planned_and_finished');
  expect(await runs.statusOf(second)).toBe('pending');
  await turn(ON);
  const later = await runs.claim();
  expect(later?.id).toBe(second);
  await runs.report(second, { status: 'errored' });
});

test('the phases of an organization that is off are canceled, and runs that wait start when it is on', async () => {
  const first = await runs.queue(await runs.makeWorkspace());
  expect((await runs.claim())?.id).toBe(first);
  const second = await runs.queue(await runs.makeWorkspace());
  await turn({ 'is-disabled': true });
  expect(await runs.claim()).toBeUndefined();
  await harness.runUpkeep();
  // The agent reads that it has to cancel with the token of the run, which works until the phase ends.
  expect((await runs.asRun(first, 'GET', `/agent-runs/${first}`)).status).toBe(200);
  expect(await runs.report(first, { status: 'canceled' })).toBe(204);
  await turn(ON);
  expect(await runs.statusOf(first)).toBe('canceled');
  expect(await runs.statusOf(second)).toBe('pending');
  const later = await runs.claim();
  expect(later?.id).toBe(second);
  await runs.report(second, { status: 'errored' });
});

test('a new organization of the name of a deleted one is on', async () => {
  const create = () =>
    harness.create('/organizations', 'organizations', { name: 'short', email: 's@b.example' });
  await create();
  const path = '/admin/organizations/short';
  const body = { data: { type: 'organizations', attributes: { 'is-draining': true } } };
  expect((await harness.call('PATCH', path, body)).status).toBe(200);
  expect((await harness.call('DELETE', '/organizations/short')).status).toBe(204);
  for (const { path: record } of await harness.store.scan('shared/organization-switches/'))
    expect(record).toBe('');
  await create();
  expect((await harness.call('GET', path)).data.attributes['is-draining']).toBe(false);
});
