import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';

let harness: Harness;
let writers: string;
let first: { id: string; token: string };
let second: { id: string; token: string };
let workspaceId: string;

const MINE = '/organizations/acme/workspaces';
const act = (action: string, token: string, body?: unknown) =>
  harness.call('POST', `/workspaces/${workspaceId}/actions/${action}`, body, token);

beforeAll(async () => {
  harness = await startHarness();
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  const team = await harness.create('/organizations/acme/teams', 'teams', { name: 'writers' });
  writers = team.id;
  first = await harness.addUser('first', writers);
  second = await harness.addUser('second', writers);
  workspaceId = (await harness.create(MINE, 'workspaces', { name: 'locked' })).id;
  await harness.create(
    '/team-workspaces',
    'team-workspaces',
    { access: 'write' },
    {
      relationships: {
        team: { data: { type: 'teams', id: writers } },
        workspace: { data: { type: 'workspaces', id: workspaceId } },
      },
    },
  );
});
afterAll(() => harness[Symbol.asyncDispose]());

describe('the lock of a workspace', () => {
  test.for([
    ['a plain reason', { reason: 'busy' }, 'busy'],
    [
      'the wrapper of provisioning clients',
      { data: { type: '', attributes: { reason: 'r' } } },
      'r',
    ],
    ['the wrapper without a reason', { data: { type: '', attributes: {} } }, ''],
    ['a null reason', { reason: null }, ''],
    ['no body', undefined, ''],
  ] as const)('is taken with %s, shows its holder, and is given back', async ([, body, reason]) => {
    const locked = await act('lock', first.token, body);
    expect(locked.status).toBe(200);
    expect(locked.data.attributes).toMatchObject({ locked: true, 'locked-reason': reason });
    expect(locked.data.relationships['locked-by']?.data).toEqual({ id: first.id, type: 'users' });
    const unlocked = await act('unlock', first.token);
    expect(unlocked.status).toBe(200);
    expect(unlocked.data.attributes).toMatchObject({ locked: false, 'locked-reason': '' });
    expect(unlocked.data.relationships['locked-by']?.data).toBeNull();
  });

  test('is refused to everyone while it is held, including its holder', async () => {
    await act('lock', first.token, { reason: 'maintenance' });
    for (const { token } of [first, second]) {
      const { status, errors } = await act('lock', token);
      expect(status).toBe(409);
      expect(errors[0]).toMatchObject({ status: '409', title: 'conflict' });
      expect(errors[0]?.detail).toContain(
        'Unable to lock workspace. The workspace is already locked.',
      );
      expect(errors[0]?.detail).toContain('User first: maintenance');
    }
    await act('unlock', first.token);
    await act('lock', first.token);
    expect((await act('lock', second.token)).errors[0]?.detail).toContain('held by User first.');
    await act('unlock', first.token);
  });

  test('has a reason of at most 4,096 characters', async () => {
    const reason = 'x'.repeat(4096);
    const { status, errors } = await act('lock', first.token, { reason: `${reason}x` });
    expect([status, errors[0]?.source?.pointer]).toEqual([422, '/reason']);
    const { data } = await act('lock', first.token, { reason });
    expect(data.attributes['locked-reason']).toBe(reason);
    await act('unlock', first.token);
  });

  test('can be released only by its holder', async () => {
    await act('lock', first.token);
    const { status, errors } = await act('unlock', second.token);
    expect(status).toBe(409);
    expect(errors[0]?.detail).toContain(`is locked by User ${first.id}`);
    expect((await act('unlock', first.token)).status).toBe(200);
  });

  test('cannot be released twice', async () => {
    const { status, errors } = await act('unlock', first.token);
    expect(status).toBe(409);
    expect(errors[0]?.detail).toContain('already unlocked');
    expect((await act('force-unlock', harness.adminToken)).status).toBe(409);
  });

  test('can be forced open only by workspace administrators', async () => {
    await act('lock', first.token);
    expect((await act('force-unlock', second.token)).status).toBe(404);
    const forced = await act('force-unlock', harness.adminToken);
    expect(forced.status).toBe(200);
    expect(forced.data.attributes['locked']).toBe(false);
  });

  test('belongs to the team when a team token takes it', async () => {
    const path = `/teams/${writers}/authentication-token`;
    const made = await harness.create(path, 'authentication-tokens', {});
    const token = String(made.attributes['token']);
    const locked = await act('lock', token);
    expect(locked.data.relationships['locked-by']?.data).toEqual({ id: writers, type: 'teams' });
    const { errors } = await act('unlock', first.token);
    expect(errors[0]?.detail).toContain(`is locked by Team ${writers}`);
    expect((await act('unlock', token)).status).toBe(200);
  });

  test('is not available to organization tokens', async () => {
    const path = '/organizations/acme/authentication-token';
    const made = await harness.create(path, 'authentication-tokens', {});
    expect((await act('lock', String(made.attributes['token']))).status).toBe(404);
  });

  test('keeps a workspace from being deleted safely', async () => {
    await act('lock', first.token);
    const path = `/workspaces/${workspaceId}/actions/safe-delete`;
    const { status, errors } = await harness.call('POST', path);
    expect(status).toBe(409);
    expect(errors[0]?.detail).toContain('locked');
    await act('unlock', first.token);
  });

  test('goes to one of fifty callers at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const replies = await Promise.all(
        Array.from({ length: 50 }, (_, at) => act('lock', (at % 2 === 0 ? first : second).token)),
      );
      const winners = replies.filter(({ status }) => status === 200);
      expect(winners).toHaveLength(1);
      expect(replies.filter(({ status }) => status === 409)).toHaveLength(49);
      const holder = winners[0]?.data.relationships['locked-by']?.data;
      const shown = await harness.call('GET', `/workspaces/${workspaceId}`);
      expect(shown.data.relationships['locked-by']?.data).toEqual(holder);
      await act('force-unlock', harness.adminToken);
    }
  });
});

describe('the locks that a caller holds', () => {
  const locksOf = async (token: string) =>
    (await harness.call('GET', '/account/workspace-locks', undefined, token)).list.map(
      ({ id, attributes }) => ({ id, ...attributes }),
    );

  test('are listed over all organizations, as long as the workspace may be seen', async () => {
    await harness.create('/organizations', 'organizations', { name: 'beta', email: 'a@b.example' });
    const other = await harness.create('/organizations/beta/workspaces', 'workspaces', {
      name: 'elsewhere',
    });
    await act('lock', first.token, { reason: 'maintenance' });
    await harness.call('POST', `/workspaces/${other.id}/actions/lock`, { reason: '' });
    expect(await locksOf(first.token)).toEqual([
      {
        id: workspaceId,
        'workspace-name': 'locked',
        'organization-name': 'acme',
        reason: 'maintenance',
        'locked-at': expect.any(String),
      },
    ]);
    expect(await locksOf(second.token)).toEqual([]);
    const own = await harness.call('GET', '/account/workspace-locks');
    expect(own.list.map(({ id }) => id)).toEqual([other.id]);
    await harness.call('DELETE', `/teams/${writers}/relationships/users`, {
      data: [{ type: 'users', id: 'first' }],
    });
    expect(await locksOf(first.token)).toEqual([]);
    await harness.call('POST', `/workspaces/${workspaceId}/actions/force-unlock`);
  });
});
