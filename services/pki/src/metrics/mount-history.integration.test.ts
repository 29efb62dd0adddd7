/**
 * The history of a mount (`history`).
 *
 * | case                              | outcome                                                          |
 * | --------------------------------- | ---------------------------------------------------------------- |
 * | certificates issued and revoked   | counted in their minute, a certificate revoked twice once        |
 * | ACME orders                       | counted when they are created, and when their certificate is there |
 * | another mount                     | has numbers of its own                                           |
 * | a replica, and its end            | its numbers add to those of the others                           |
 * | another window than the known     | 400, which names them                                            |
 * | a sealed cluster                  | writes nothing                                                   |
 * | thirty days later                 | nothing is left                                                  |
 */
import { temporaryDirectory } from '@keelson/testkit';
import { afterEach, expect, test } from 'vitest';
import { openAcme } from '../../test/open-acme.ts';
import { aMount, openPki } from '../../test/open-pki.ts';

const other = aMount({ uuid: '8f0b1c1e-0000-4000-8000-000000000002', path: 'other/' });
const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

const stateOf = (mount: ReturnType<typeof aMount>) => ({
  initialized: true,
  sealed: false,
  serviceKey: Buffer.alloc(32, 7),
  keyringTerm: 0,
  replicationRoles: [],
  clusterId: 'c',
  clusterName: 'c',
  unreadableMountUuids: [],
  formerServiceKeys: [],
  mounts: [mount, other],
});

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);

/** Totals of the series of a window. */
const totals = (data: { series: Record<string, number[]> }) =>
  Object.fromEntries(Object.entries(data.series).map(([name, values]) => [name, sum(values)]));

const openMounted = async () => {
  const folder = await temporaryDirectory();
  open.push(async () => folder[Symbol.asyncDispose]());
  const pki = await openPki(folder.path);
  open.push(pki.close);
  const replica = pki.openReplica();
  await replica.service.start();
  await pki.join(stateOf(pki.mount));
  await replica.service.joined;
  const post = async (
    path: string,
    body: object = {},
    mount = pki.mount,
    service = pki.service,
  ) => {
    const answer = await pki.call('POST', path, body, { mount, service });
    expect(answer.json?.errors).toBeUndefined();
    return answer.data;
  };
  for (const mount of [pki.mount, other]) {
    await post('root/generate/internal', { common_name: 'Root', key_type: 'ec' }, mount);
    await post(
      'roles/web',
      { allow_any_name: true, enforce_hostnames: false, key_type: 'ec' },
      mount,
    );
  }
  const read = async (window = 'hour', mount = pki.mount) =>
    (await pki.call('GET', `history?window=${window}`, undefined, { mount })).data;
  return { pki, post, read, replica };
};

const LEAF = { common_name: 'a.example.com', ttl: '1h' };

test('counts certificates of each mount by minute, ten minutes and hour', async () => {
  const { pki, post, read } = await openMounted();
  const { serial_number } = await post('issue/web', LEAF);
  await post('issue/web', LEAF);
  pki.clock.advance(60_000);
  await post('issue/web', LEAF, other);
  await post('revoke', { serial_number });
  await post('revoke', { serial_number });
  const hour = await read();
  expect([hour.step_seconds, hour.series.certificates_issued.slice(-2)]).toEqual([60, [2, 0]]);
  expect(hour.series.certificates_revoked.slice(-2)).toEqual([0, 1]);
  const lastMs = Date.parse(hour.start_time) + 59 * 60_000;
  expect(pki.clock.nowMs() - lastMs).toBeLessThan(60_000);
  const none = { acme_orders_created: 0, acme_orders_finished: 0 };
  for (const window of ['day', 'month'])
    expect(totals(await read(window))).toEqual({
      ...none,
      certificates_issued: 2,
      certificates_revoked: 1,
    });
  expect(totals(await read('hour', other))).toEqual({
    ...none,
    certificates_issued: 1,
    certificates_revoked: 0,
  });
  const wrong = await pki.call('GET', 'history?window=year');
  expect([wrong.status, wrong.json.errors]).toEqual([400, ['window is one of hour, day, month']]);
});

test('adds up what replicas count, also of one that has ended', async () => {
  const { post, read, replica, pki } = await openMounted();
  await post('issue/web', LEAF);
  for (let count = 0; count < 3; count += 1)
    await post('issue/web', LEAF, pki.mount, replica.service);
  await replica.service.stop();
  expect(totals(await read())['certificates_issued']).toBe(4);
});

test('keeps nothing for longer than thirty days, and writes nothing while sealed', async () => {
  const { pki, post, read } = await openMounted();
  await post('issue/web', LEAF);
  await read();
  const stored = () => pki.store.list(`local/mounts/${pki.mount.uuid}/history/`);
  expect(await stored()).toHaveLength(1);
  pki.clock.advance(31 * 86_400_000);
  expect(totals(await read('month'))['certificates_issued']).toBe(0);
  expect(await stored()).toHaveLength(0);
  await post('issue/web', LEAF);
  pki.barrier.seal();
  pki.clock.advance(120_000);
  await pki.service.stop();
  expect(await stored()).toHaveLength(0);
});

test('counts ACME orders', async () => {
  const acme = await openAcme();
  open.push(acme.close);
  const { pki } = acme;
  await pki.join(stateOf(pki.mount));
  await acme.post('roles/web', { allow_any_name: true, key_type: 'ec' });
  const client = acme.client();
  await acme.obtain(client, 'localhost');
  await client.order('localhost');
  const { data } = await pki.call('GET', 'history');
  expect(totals(data)).toEqual({
    acme_orders_created: 2,
    acme_orders_finished: 1,
    certificates_issued: 1,
    certificates_revoked: 0,
  });
}, 60_000);
