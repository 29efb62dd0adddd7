import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from './workspace-harness.ts';

const O = '/organizations/acme';
let harness: Harness;
let teamId: string;
beforeAll(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  teamId = (await harness.create(`${O}/teams`, 'teams', { name: 'readers' })).id;
});
afterAll(() => harness[Symbol.asyncDispose]());

const invite = (email: string, ...teamIds: readonly string[]) =>
  harness.call('POST', `${O}/organization-memberships`, {
    data: {
      type: 'organization-memberships',
      attributes: { email },
      relationships: { teams: { data: teamIds.map((id) => ({ type: 'teams', id })) } },
    },
  });

describe('a membership', () => {
  test('is made by address, seen by its user, and ends with all teams', async () => {
    const { id, token } = await harness.addUser('ada');
    expect((await harness.call('GET', O, undefined, token)).status).toBe(404);
    const made = await invite('Ada@keelson.example', teamId);
    expect(made.status).toBe(201);
    expect(made.data.relationships['user']?.data).toEqual({ id, type: 'users' });
    expect((await harness.call('GET', O, undefined, token)).status).toBe(200);
    const own = await harness.call('GET', '/organization-memberships', undefined, token);
    expect(own.list.map((membership) => membership.id)).toEqual([made.data.id]);
    const found = await harness.call('GET', `${O}/organization-memberships?q=ada`);
    expect(found.list.map((membership) => membership.id)).toEqual([made.data.id]);
    expect((await invite('ada@keelson.example', teamId)).status).toBe(422);
    const path = `/organization-memberships/${made.data.id}`;
    expect((await harness.call('DELETE', path, undefined, token)).status).toBe(404);
    expect((await harness.call('DELETE', path)).status).toBe(204);
    expect((await harness.call('GET', path)).status).toBe(404);
    expect((await harness.call('GET', O, undefined, token)).status).toBe(404);
  });

  test('needs a user and a team', async () => {
    await harness.addUser('grace');
    expect((await invite('nobody@keelson.example', teamId)).errors[0]?.source?.pointer).toBe(
      '/data/attributes/email',
    );
    expect((await invite('grace@keelson.example')).status).toBe(422);
  });

  test('of the last owner stays', async () => {
    const { list } = await harness.call('GET', `${O}/organization-memberships?q=admin`);
    const path = `/organization-memberships/${list[0]?.id}`;
    expect((await harness.call('DELETE', path)).status).toBe(403);
  });
});
