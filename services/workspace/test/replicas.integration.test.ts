/** Two replicas of the service on one PostgreSQL database, with leases in one Redis. */
import { hash } from 'node:crypto';
import { RedisLeaseStore } from '@keelson/locks/redis';
import { type PostgresServer, type RedisServer, startPostgres, startRedis } from '@keelson/testkit';
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issueCode } from '../src/identity/mails/link-mails.ts';
import { enablePasswords, PASSWORD, setPassword, signIn, tokenOf } from './password-accounts.ts';
import { countDone } from './simultaneous.ts';
import { type Harness, startHarness } from './workspace-harness.ts';

let postgres: PostgresServer;
let redis: RedisServer;
let leases: readonly RedisLeaseStore[];
let replicas: readonly Harness[];

const COLLECTION = '/organizations/acme/workspaces';
const document = (attributes: object, relationships: object = {}) => ({
  data: { type: 'workspaces', attributes, relationships },
});

beforeAll(async () => {
  postgres = await startPostgres();
  const connectionString = await postgres.createDatabase('workspace');
  redis = await startRedis();
  const connection = { url: redis.url };
  const [one, other] = [new RedisLeaseStore({ connection }), new RedisLeaseStore({ connection })];
  leases = [one, other];
  const first = await startHarness({ connectionString, leases: one });
  const { adminToken } = first;
  replicas = [first, await startHarness({ connectionString, leases: other, adminToken })];
  await first.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
});
afterAll(async () => {
  for (const replica of replicas) await replica[Symbol.asyncDispose]();
  for (const store of leases) await store.close();
  await redis[Symbol.asyncDispose]();
  await postgres[Symbol.asyncDispose]();
});

/** Fifty calls at once, in turns on each replica. */
const fromAll = <T>(call: (replica: Harness, turn: number) => Promise<T>): Promise<readonly T[]> =>
  Promise.all(
    Array.from({ length: 50 }, (_, at) => call(replicas[at % replicas.length] as Harness, at)),
  );

const count = (replies: readonly { status: number }[], status: number): number =>
  replies.filter((reply) => reply.status === status).length;

describe('over two replicas', () => {
  test('a name is given to only one workspace', async () => {
    const body = document({ name: 'contested' });
    const replies = await fromAll((replica) => replica.call('POST', COLLECTION, body));
    expect([count(replies, 201), count(replies, 422)]).toEqual([1, 49]);
  });

  test('a code of an approved login becomes one token', async () => {
    const [first] = replicas as [Harness];
    const verifier = 'v'.repeat(43);
    const redirectUri = 'http://localhost:10000/login';
    const { attributes } = await first.create('/command-logins', 'command-logins', {
      'response-type': 'code',
      'client-id': 'terraform-cli',
      'redirect-uri': redirectUri,
      'code-challenge': hash('sha256', verifier, 'base64url'),
      'code-challenge-method': 'S256',
      state: 'state',
      approved: true,
    });
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: 'terraform-cli',
      code: new URL(String(attributes['redirect-to'])).searchParams.get('code') ?? '',
      redirect_uri: redirectUri,
      code_verifier: verifier,
    });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const replies = await fromAll((replica) =>
      replica.call('POST', '/command-logins/token', Buffer.from(form.toString()), null, headers),
    );
    expect([count(replies, 200), count(replies, 400)]).toEqual([1, 49]);
  });

  test('a link sets one password, a recovery code and a passcode sign in once, and guesses lock', async () => {
    const [first] = replicas as [Harness];
    await enablePasswords(first);
    const { id } = await first.addUser('ada');
    const nowMs = first.clock.nowMs();
    const { text } = await first.store.transact((tx) =>
      issueCode(tx, { kind: 'password-reset', id }, nowMs),
    );
    const passwords = Array.from({ length: 50 }, (_, at) => `${PASSWORD} ${at}`);
    const set = await fromAll((replica, at) => setPassword(replica, text, passwords[at] ?? ''));
    expect(count(set, 204)).toBe(1);
    const password = passwords[set.findIndex(({ status }) => status === 204)] ?? '';
    const session = await tokenOf(signIn(first, 'ada', password));
    const change = (path: string, attributes: object) =>
      first.call('POST', path, { data: { type: 'two-factors', attributes } }, session);
    const begun = await change('/account/two-factor', { 'current-password': password });
    const totp = new TOTP({ secret: Secret.fromBase32(String(begun.data.attributes['secret'])) });
    const verified = await change('/account/two-factor/actions/verify', {
      passcode: totp.generate({ timestamp: first.clock.nowMs() }),
    });
    const [code] = verified.data.attributes['recovery-codes'] as readonly string[];
    for (const replica of replicas) replica.clock.advance(30_000);
    const passcode = totp.generate({ timestamp: first.clock.nowMs() });
    for (const factor of [{ 'recovery-code': code }, { passcode }]) {
      const signed = await fromAll((replica) => signIn(replica, 'ada', password, factor));
      expect(count(signed, 201)).toBe(1);
    }
    const guesses = await fromAll((replica) => signIn(replica, 'ada', 'a guess of many'));
    expect([count(guesses, 401), count(guesses, 429)]).toEqual([5, 45]);
  });

  test('either a reservation or a concurrent binding that overrides it is refused', async () => {
    const [first, second] = replicas as [Harness, Harness];
    const organization = '/organizations/reserving';
    const attributes = { name: 'reserving', email: 'a@b.example' };
    await first.create('/organizations', 'organizations', attributes);
    const done = await countDone(async (round) => {
      const key = `key-${round}`;
      const bindings = { data: [{ type: 'tag-bindings', attributes: { key, value: 'v' } }] };
      const project = await first.create(`${organization}/projects`, 'projects', { name: key });
      await first.call('PATCH', `/projects/${project.id}/tag-bindings`, bindings);
      const { id } = await first.create(
        `${organization}/workspaces`,
        'workspaces',
        { name: key },
        {
          relationships: { project: { data: { type: 'projects', id: project.id } } },
        },
      );
      const reserved = {
        data: { type: 'reserved-tag-keys', attributes: { key, 'disable-overrides': true } },
      };
      return [
        () => first.call('POST', `${organization}/reserved-tag-keys`, reserved),
        () => second.call('PATCH', `/workspaces/${id}/tag-bindings`, bindings),
      ];
    });
    expect(done).toEqual([1]);
  });

  test('a lock is given to only one caller, with and without Redis, and is visible to the other replica at once', async () => {
    const [first, second] = replicas as [Harness, Harness];
    const at = `/workspaces/${(await first.create(COLLECTION, 'workspaces', { name: 'locked' })).id}`;
    const managing = { 'organization-access': { 'manage-workspaces': true } };
    const team = await first.create('/organizations/acme/teams', 'teams', {
      name: 'lockers',
      ...managing,
    });
    const callers = [await first.addUser('ann', team.id), await first.addUser('bob', team.id)];
    for (const step of ['with Redis', 'without Redis', 'with Redis again']) {
      if (step === 'without Redis') await redis.process.kill();
      if (step === 'with Redis again') await redis.process.start();
      // Sends the same request to both replicas.
      const replies = await fromAll((replica, turn) => {
        const { token } = callers[Math.floor(turn / 2) % 2] as (typeof callers)[number];
        return replica.call('POST', `${at}/actions/lock`, { reason: step }, token);
      });
      expect([step, count(replies, 200), count(replies, 409)]).toEqual([step, 1, 49]);
      const winner = replies.find(({ status }) => status === 200)?.data;
      const holder = winner?.relationships['locked-by']?.data as { id: string };
      const name = holder.id === callers[0]?.id ? 'ann' : 'bob';
      const refused = replies.filter(({ status }) => status === 409);
      for (const { errors } of refused)
        expect(errors[0]?.detail).toContain(`It is held by User ${name}: ${step}.`);
      for (const replica of replicas) {
        const { attributes, relationships } = (await replica.call('GET', at)).data;
        expect(attributes).toMatchObject({ locked: true, 'locked-reason': step });
        expect(relationships['locked-by']?.data).toEqual(holder);
      }
      const { token } = callers.find(({ id }) => id === holder.id) ?? { token: '' };
      const unlock = await second.call('POST', `${at}/actions/unlock`, undefined, token);
      expect(unlock.status).toBe(200);
      expect((await first.call('GET', at)).data.attributes['locked']).toBe(false);
    }
  });

  test('a deleted token is refused by both', async () => {
    const [first, second] = replicas as [Harness, Harness];
    const { id, token } = await first.addUser('leaver');
    const details = () => second.call('GET', '/account/details', undefined, token);
    expect((await details()).status).toBe(200);
    const { list } = await first.call('GET', `/users/${id}/authentication-tokens`);
    await first.call('DELETE', `/authentication-tokens/${list[0]?.id}`);
    expect((await details()).status).toBe(401);
  });

  test('the counts of a list include changes by the other replica', async () => {
    const [first, second] = replicas as [Harness, Harness];
    const total = async () =>
      (await second.call('GET', `${COLLECTION}?search[name]=counted-`)).meta.pagination[
        'total-count'
      ];
    expect(await total()).toBe(0);
    for (let count = 1; count <= 3; count += 1) {
      await first.create(COLLECTION, 'workspaces', { name: `counted-${count}` });
      expect(await total()).toBe(count);
      expect(await total()).toBe(count);
    }
    for (let count = 3; count >= 1; count -= 1) {
      await first.call('DELETE', `${COLLECTION}/counted-${count}`);
      expect(await total()).toBe(count - 1);
    }
  });

  test('a listing finds by name, wildcard, tag and time', async () => {
    const [first, second] = replicas as [Harness, Harness];
    const binding = { attributes: { key: 'env', value: 'prod' } };
    await first.call(
      'POST',
      COLLECTION,
      document({ name: 'Web_One' }, { 'tag-bindings': { data: [binding] } }),
    );
    const names = async (query: string) =>
      (await second.call('GET', `${COLLECTION}?${query}`)).list.map(
        ({ attributes }) => attributes['name'],
      );
    expect(await names('')).toEqual(['contested', 'locked', 'Web_One']);
    expect(await names('sort=-name')).toEqual(['Web_One', 'locked', 'contested']);
    expect(await names('sort=latest-change-at&page[size]=2&page[number]=2')).toHaveLength(1);
    expect(await names('search[name]=b_O')).toEqual(['Web_One']);
    expect(await names('search[wildcard-name]=web*')).toEqual(['Web_One']);
    expect(await names('search[wildcard-name]=*ed')).toEqual(['contested', 'locked']);
    expect(await names('search[tags]=env')).toEqual(['Web_One']);
    expect(await names('search[exclude-tags]=env')).toEqual(['contested', 'locked']);
    const filter = 'filter[tagged][0][key]=env&filter[tagged][0][value]=prod';
    expect(await names(filter)).toEqual(['Web_One']);
  });
});
