/**
 * Counts of clients (`sys/internal/counters`).
 *
 * | case                                                    | outcome                                                  |
 * | ------------------------------------------------------- | -------------------------------------------------------- |
 * | an entity, whatever its tokens and however many requests | one client a month, of the mount of its first token     |
 * | tokens without an entity                                | one client for each set of policies in a namespace       |
 * | root and wrapping tokens, refused requests              | no clients                                               |
 * | any number of requests                                  | nothing is written until the next round, then only what is new |
 * | a restart, another replica                              | neither forgets nor counts twice                         |
 * | a later month                                           | clients again, new ones apart                            |
 * | a period, its defaults, `limit_namespaces`              | the months that it names                                 |
 * | a child namespace                                       | sees itself and what is below; the root a removed one    |
 * | export as JSON and CSV                                  | each client once, earliest first; needs sudo             |
 * | counting that ends                                      | discards this month, and keeps others                    |
 * | months older than `retention_months`                    | are deleted                                              |
 * | entities, tokens, requests                              | the numbers of the cluster                               |
 */

import { ManualClock } from '@keelson/clock';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { joinMethod, logIn, mountMethod } from '../../test/login-steps.ts';
import { type Document, openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';
import { followMounts } from '../mounts/mount-records.ts';
import { findStoredToken } from '../tokens/token-records.ts';
import { createActivityRecorder } from './activity-recorder.ts';

const START = Date.UTC(2026, 0, 10);
const DAY_MS = 86_400_000;
const COUNTERS = 'sys/internal/counters';

let harness: SysHarness;
let uuid: string;
beforeEach(async () => {
  harness = await openInitializedSys({
    clock: new ManualClock(START),
    config: { maxTokenTtlSeconds: 400 * 86_400 },
  });
  await joinMethod(harness);
  ({ uuid } = await mountMethod(harness, 'people'));
});
afterEach(() => harness.close());

const LONG = { ttlSeconds: 300 * 86_400 };

const use = async (token: string, namespace = '', path = 'auth/token/lookup-self') =>
  (await harness.call('GET', path, { token, namespace })).status;

const person = async (aliasName: string, mount = uuid): Promise<string> =>
  (await logIn(harness, mount, { aliasName, limits: LONG })).client_token;

const counts = (entities: number, others: number) => ({
  distinct_entities: entities,
  entity_clients: entities,
  non_entity_tokens: others,
  non_entity_clients: others,
  clients: entities + others,
});

/** A mount whose path is that of its type. */
const mountDocument = (type: string, counted: Document): Document => {
  const path = `auth/${type}/`;
  return { path, mount_path: path, mount_type: type, counts: counted };
};
const read = async (path: string, query = '', namespace = ''): Promise<Document> => {
  const { status, body } = await harness.asRoot('GET', `${COUNTERS}/${path}`, { query, namespace });
  expect([path, status, body.errors]).toEqual([path, 200, undefined]);
  return body.data;
};
const monthly = async (): Promise<Document> => (await read('activity/monthly')).clients;

test('an entity is one client, and so are all tokens with the same policies', async () => {
  const alice = await person('alice');
  for (let count = 0; count < 5; count += 1) expect(await use(alice)).toBe(200);
  expect(await use(await person('alice'))).toBe(200);
  for (const policies of [['default'], ['default'], ['other']])
    expect(await use(await harness.createToken(policies))).toBe(200);
  expect(await use('hvs.unknown')).toBe(403);
  expect(await use(alice, '', 'sys/mounts')).toBe(403);
  const wrapped = await harness.asRoot('GET', 'sys/mounts', { wrapTtlSeconds: 60 });
  await harness.call('POST', 'sys/wrapping/unwrap', { token: wrapped.body.wrap_info.token });
  const data = await read('activity/monthly');
  const mounts = [mountDocument('token', counts(0, 2)), mountDocument('people', counts(1, 0))];
  const namespaces = [{ namespace_id: 'root', namespace_path: '', counts: counts(1, 2), mounts }];
  expect(data).toEqual({
    ...counts(1, 2),
    by_namespace: namespaces,
    months: [
      {
        timestamp: '2026-01-01T00:00:00Z',
        counts: counts(1, 2),
        namespaces,
        new_clients: { counts: counts(1, 2), namespaces },
      },
    ],
  });
});

test('requests write nothing by themselves, and what is known is not written again', async () => {
  const alice = await person('alice');
  const before = await harness.store.position();
  for (let count = 0; count < 50; count += 1) await use(alice);
  expect(await harness.store.position()).toBe(before);
  await harness.settle('activity');
  const written = await harness.store.position();
  expect(written).toBeGreaterThan(before);
  await harness.settle('activity');
  expect(await harness.store.position()).toBe(written);
  const clients = await harness.store.list('local/active-clients/2026-01/');
  await use(alice);
  await harness.settle('activity');
  expect(await harness.store.list('local/active-clients/2026-01/')).toEqual(clients);
});

test('a restart and another replica neither forget a client nor count it twice', async () => {
  const alice = await person('alice');
  await use(alice);
  await harness.settle('activity');
  const { resolve, store, clock } = harness;
  const { audit } = await resolve('GET', 'auth/token/lookup-self', { token: alice });
  const entry = await findStoredToken(store, {
    namespaceId: 'root',
    hash: audit?.caller?.tokenHash ?? '',
  });
  if (entry === undefined) throw new Error('the token is not stored');
  const mounts = followMounts(store, () => undefined);
  const others = [1, 2].map(() => createActivityRecorder({ store, clock, mounts }));
  for (const other of others) other.recordUse(entry);
  await Promise.all(others.map((other) => other.write()));
  expect(await monthly()).toBe(1);
});

test('a later month has its clients again, of which new ones are shown apart', async () => {
  const [alice, bob] = [await person('alice'), await person('bob')];
  await use(alice);
  await harness.settle('activity');
  harness.clock.advance(31 * DAY_MS);
  await use(alice);
  await use(bob);
  harness.clock.advance(28 * DAY_MS);
  await use(bob);
  const data = await read('activity');
  expect(data).toMatchObject({
    start_time: '2025-03-01T00:00:00Z',
    end_time: '2026-02-28T23:59:59Z',
    total: counts(2, 0),
  });
  expect(data.months).toHaveLength(12);
  const shown = (months: readonly Document[]) =>
    months.map((one) => [
      one.timestamp.slice(0, 7),
      one.counts.clients,
      one.new_clients.counts.clients,
    ]);
  expect(shown(data.months.slice(-2))).toEqual([
    ['2026-01', 1, 1],
    ['2026-02', 2, 1],
  ]);
  const now = await read('activity', 'start_time=2026-02-15T00:00:00Z&current_billing_period=true');
  expect(shown(now.months)).toEqual([
    ['2026-02', 2, 2],
    ['2026-03', 1, 0],
  ]);
  const single = await read(
    'activity',
    'start_time=2026-01-01T00:00:00Z&end_time=2026-01-02T00:00:00Z',
  );
  expect(single.total).toEqual(counts(1, 0));
  const wrong = await harness.asRoot('GET', `${COUNTERS}/activity`, {
    query: 'start_time=2026-03-01T00:00:00Z&end_time=2026-01-01T00:00:00Z',
  });
  expect([wrong.status, wrong.body.errors]).toEqual([400, ['start_time is later than end_time']]);
  expect((await read('config')).queries_available).toBe(true);
});

test('a namespace sees its own clients and those below; the root also those of a removed one', async () => {
  const ids: string[] = [];
  for (const path of ['team', 'team/unit']) {
    ids.push(await harness.createNamespace(path));
    const { uuid: own } = await mountMethod(harness, 'people', { namespace: path });
    expect(await use(await person('carol', own), path)).toBe(200);
  }
  await use(await person('alice'));
  await use(await person('dave'));
  const query = 'current_billing_period=true';
  const pathsIn = async (namespace: string, more = '') =>
    (await read('activity', query + more, namespace)).by_namespace.map(
      (one: Document) => one.namespace_path,
    );
  expect(await pathsIn('')).toEqual(['', expect.any(String), expect.any(String)]);
  expect((await pathsIn('')).toSorted()).toEqual(['', 'team/', 'team/unit/']);
  expect((await pathsIn('team')).toSorted()).toEqual(['team/', 'team/unit/']);
  expect(await pathsIn('', '&limit_namespaces=1')).toEqual(['']);
  expect((await harness.asRoot('DELETE', 'sys/namespaces/team/unit')).status).toBeLessThan(300);
  expect(await pathsIn('team')).toEqual(['team/']);
  expect(await pathsIn('')).toContain(`deleted namespace "${ids[1]}"`);
  expect((await harness.asRoot('GET', `${COUNTERS}/config`, { namespace: 'team' })).status).toBe(
    404,
  );
});

test('an export has each client once, the earliest first, and needs sudo', async () => {
  await use(await person('alice'));
  harness.clock.advance(1000);
  await use(await harness.createToken(['a,"b']));
  const exported = async (format: string): Promise<readonly string[]> => {
    const { status, body } = await harness.asRoot('GET', `${COUNTERS}/activity/export`, {
      query: `format=${format}&start_time=2026-01-01T00:00:00Z&end_time=2026-01-30T00:00:00Z`,
    });
    expect(status).toBe(200);
    return body.trimEnd().split('\n');
  };
  const [first, second] = (await exported('json')).map((line) => JSON.parse(line));
  expect(first).toMatchObject({
    client_type: 'entity',
    namespace_id: 'root',
    mount_path: 'auth/people/',
    mount_type: 'people',
    client_first_usage_time: '2026-01-10T00:00:00Z',
  });
  expect(second).toMatchObject({ client_type: 'non-entity-token', mount_path: 'auth/token/' });
  const lines = await exported('csv');
  expect(lines).toHaveLength(3);
  expect(lines[0]).toMatch(/^client_id,client_type,/);
  expect(lines[1]).toBe(
    Object.values(first)
      .map((text) => `"${String(text)}"`)
      .join(','),
  );
  const reader = await harness.asRoot('POST', 'sys/policies/acl/reads', {
    body: { policy: 'path "sys/internal/counters/*" { capabilities = ["read"] }' },
  });
  expect(reader.status).toBe(204);
  const token = await harness.createToken(['reads']);
  expect(await use(token, '', `${COUNTERS}/activity/monthly`)).toBe(200);
  expect(await use(token, '', `${COUNTERS}/activity/export`)).toBe(403);
});

test('counting that ends discards this month, and months end with their time', async () => {
  const alice = await person('alice');
  await use(alice);
  await harness.settle('activity');
  harness.clock.advance(31 * DAY_MS);
  await use(alice);
  expect(await monthly()).toBe(1);
  const set = (body: Document) => harness.asRoot('POST', `${COUNTERS}/config`, { body });
  expect((await set({ enabled: 'disable' })).status).toBe(204);
  await use(alice);
  await use(await person('bob'));
  expect(await monthly()).toBe(0);
  expect(await harness.store.list('local/active-clients/')).toEqual(['2026-01/']);
  expect(await read('config')).toEqual({
    enabled: 'disable',
    default_report_months: 12,
    retention_months: 24,
    queries_available: true,
    reporting_enabled: false,
  });
  await set({ enabled: 'enable', retention_months: 1, default_report_months: 3 });
  harness.clock.advance(31 * DAY_MS);
  await use(alice);
  await harness.settle('activity');
  expect(await harness.store.list('local/active-clients/')).toEqual(['2026-03/']);
  expect(await harness.store.list('local/request-counts/')).toEqual(['2026-02', '2026-03']);
});

test.for<[body: Document, text: RegExp]>([
  [{ enabled: 'yes' }, /enabled is "enable", "disable" or "default"/],
  [{ retention_months: 0 }, /retention_months is 1 to 60/],
  [{ retention_months: 61 }, /retention_months is 1 to 60/],
  [{ default_report_months: 0 }, /default_report_months is 1 to 60/],
  [{ default_report_months: 'x' }, /"default_report_months": expected/],
])('the configuration refuses %j', async ([body, text]) => {
  const answer = await harness.asRoot('POST', `${COUNTERS}/config`, { body });
  expect([answer.status, answer.body.errors[0]]).toEqual([400, expect.stringMatching(text)]);
});

test('entities, tokens and requests are those of the cluster', async () => {
  const before = await read('tokens');
  const alice = await person('alice');
  await use(alice);
  expect((await read('entities')).counters.entities.total).toBe(1);
  expect((await read('tokens')).counters.service_tokens.total).toBe(
    before.counters.service_tokens.total + 1,
  );
  const [january] = (await read('requests')).counters;
  expect(january).toEqual({ start_time: '2026-01-01T00:00:00Z', total: expect.any(Number) });
  await use(alice);
  const [later] = (await read('requests')).counters;
  // The two reads of it count as well.
  expect(later.total).toBe(january.total + 2);
});
