/** The groups of a person follow the directory at each renewal of her token, over HTTP and with Debian's slapd. */
import { DIRECTORY_BASE, DIRECTORY_READER, startDirectory } from '@keelson/testkit/ldap-directory';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { useLoginSite } from './login-site.ts';

const { call, must } = useLoginSite({ KEELSON_OUTBOUND_RANGES: '127.0.0.0/8' });

let directory: Awaited<ReturnType<typeof startDirectory>>;
beforeAll(async () => {
  directory = await startDirectory();
}, 60_000);
afterAll(() => directory.stop());

const OF_MEMBERS = '(member={{.UserDN}})';
const OF_NOBODY = '(cn=nobody)';

let serial = 0;
let mount: string;
/** @param groupfilter finds the groups of a person */
const configure = (groupfilter: string, reader: object = DIRECTORY_READER) =>
  must('POST', `auth/${mount}/config`, {
    url: directory.url,
    ...reader,
    userdn: `ou=people,${DIRECTORY_BASE}`,
    userattr: 'uid',
    groupdn: `ou=groups,${DIRECTORY_BASE}`,
    groupfilter,
    token_ttl: '1h',
  });
const logIn = async (): Promise<string> =>
  (
    await must(
      'POST',
      `auth/${mount}/login/alice`,
      { password: 'password of alice' },
      { token: '' },
    )
  ).auth.client_token;
const policiesOf = async (token: string): Promise<readonly string[]> =>
  (await must('GET', 'auth/token/lookup-self', undefined, { token })).data.identity_policies ?? [];
const renew = (token: string) => call('POST', 'auth/token/renew-self', {}, { token });

beforeEach(async () => {
  mount = `directory-${(serial += 1)}`;
  await must('POST', `sys/auth/${mount}`, { type: 'ldap' });
  await configure(OF_MEMBERS);
  const { accessor } = (await must('GET', `sys/auth/${mount}`)).data;
  const { id } = (
    await must('POST', 'identity/group', {
      name: `staff-${serial}`,
      type: 'external',
      policies: ['of-staff'],
    })
  ).data;
  await must('POST', 'identity/group-alias', {
    name: 'Domain Admins',
    mount_accessor: accessor,
    canonical_id: id,
  });
});

describe('a renewal', () => {
  test('takes and returns the rights of a group as the directory does', async () => {
    const token = await logIn();
    expect(await policiesOf(token)).toEqual(['of-staff']);
    await configure(OF_NOBODY);
    expect(await policiesOf(token)).toEqual(['of-staff']);
    expect((await renew(token)).status).toBe(200);
    expect(await policiesOf(token)).toEqual([]);
    await configure(OF_MEMBERS);
    expect((await renew(token)).status).toBe(200);
    expect(await policiesOf(token)).toEqual(['of-staff']);
  });

  test('of an older token does not undo what a later login has reported without a search account', async () => {
    const bound = { ...DIRECTORY_READER, binddn: '', bindpass: '' };
    await configure(OF_MEMBERS, bound);
    const older = await logIn();
    await configure(OF_NOBODY, bound);
    const later = await logIn();
    expect((await renew(older)).status).toBe(200);
    for (const token of [older, later]) expect(await policiesOf(token)).toEqual([]);
  });
});
