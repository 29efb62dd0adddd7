/**
 * States of certificates in lists and numbers.
 *
 * | asked for                        | answer                                                          |
 * | -------------------------------- | --------------------------------------------------------------- |
 * | `certs/detailed`                 | each says whether and when it was revoked                       |
 * | `certs/detailed?revoked=true`    | those that are revoked, page by page                            |
 * | `certs/detailed?revoked=false`   | all others                                                      |
 * | `certs/summary`                  | numbers by state and by week of expiry, of the mount alone      |
 * | a revocation that is damaged     | its certificate counts as revoked                               |
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { leafRole, type Mounts, openMounts, other } from '../../test/open-mounts.ts';
import { revocationRecords } from './revocation-records.ts';

let mounts: Mounts;
beforeEach(async () => {
  mounts = await openMounts();
  await mounts.root('Root');
  await mounts.post('roles/web', { ...leafRole, max_ttl: '2000h' });
});
afterEach(() => mounts.close());

const issue = async (name: string, ttl: string): Promise<string> =>
  (await mounts.post('issue/web', { common_name: name, ttl })).data.serial_number;
const detailed = async (query: string) => {
  const { data } = await mounts.pki.call('LIST', `certs/detailed${query}`);
  const infos = Object.values(data?.key_info ?? {}) as readonly {
    readonly common_name: string;
    readonly revoked: boolean;
    readonly revocation_time: number;
  }[];
  return infos.filter(({ common_name: name }) => name !== 'Root');
};
const namesOf = async (query: string) =>
  (await detailed(query)).map(({ common_name: name }) => name).toSorted();
const summary = async () => (await mounts.pki.call('GET', 'certs/summary')).data;

test('say which certificates are revoked, and find them alone or leave them out', async () => {
  await issue('kept', '100h');
  const serials = [await issue('gone', '100h'), await issue('gone too', '200h')];
  for (const serial_number of serials) await mounts.post('revoke', { serial_number });
  expect(
    (await detailed('')).map(({ common_name: name, revoked, revocation_time: time }) => [
      name,
      revoked,
      time > 0,
    ]),
  ).toEqual(
    expect.arrayContaining([
      ['kept', false, false],
      ['gone', true, true],
      ['gone too', true, true],
    ]),
  );
  expect(await namesOf('?revoked=true')).toEqual(['gone', 'gone too']);
  expect(await namesOf('?revoked=false')).toEqual(['kept']);
  const [first] = (await mounts.pki.call('LIST', 'certs/detailed?revoked=true&limit=1')).data.keys;
  const rest = await mounts.pki.call('LIST', `certs/detailed?revoked=true&after=${first}`);
  expect(new Set([first, ...rest.data.keys])).toEqual(new Set(serials));
  const wrong = await mounts.pki.call('LIST', 'certs/detailed?revoked=perhaps');
  expect([wrong.status, wrong.json.errors[0]]).toEqual([400, expect.stringContaining('revoked')]);
});

test('count certificates by state and week', async () => {
  const none = await summary();
  for (const ttl of ['100h', '100h', '300h', '1h']) await issue('web', ttl);
  const revoked = await issue('gone', '100h');
  await mounts.post('revoke', { serial_number: revoked });
  mounts.pki.clock.advance(2 * 3_600_000);
  const { valid, expired, revoked: gone, expiring_by_week: weeks, limit } = await summary();
  expect([valid - none.valid, expired, gone, limit]).toEqual([3, 1, 1, 100_000]);
  expect(weeks).toHaveLength(13);
  expect(weeks.slice(0, 2).map(({ expiring }: { expiring: number }) => expiring)).toEqual([2, 1]);
  await mounts.root('Other', other);
  expect((await summary()).valid).toBe(valid);
});

test('take a certificate whose revocation is damaged for revoked', async () => {
  const serial = await issue('gone', '100h');
  await mounts.post('revoke', { serial_number: serial });
  const { pki } = mounts;
  const path = revocationRecords(pki.mount).path(serial.replaceAll(':', '-'));
  await pki.store.applyRecords('damage', [{ path, stored: Buffer.from([0]) }]);
  expect(await namesOf('?revoked=true')).toEqual(['gone']);
  expect((await summary()).revoked).toBe(1);
});
