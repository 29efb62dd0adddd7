/** Auth methods: roles, secret ids, users, a lockout and tokens of logins, of mounts that replicate and of local ones. */
import { answersOf, type GoldenCalls, type GoldenRead, LONG, reads } from './golden-calls.ts';

/** Makes the contents. @returns the requests that read them */
export const makeLogins = async (
  { v1 }: GoldenCalls,
  http: string,
): Promise<readonly GoldenRead[]> => {
  const stranger = answersOf(http, { rootToken: '', apiToken: '' });
  const config = { max_lease_ttl: LONG };
  for (const [suffix, local] of [
    ['', false],
    ['-here', true],
  ] as const) {
    const [machines, people] = [`machines${suffix}`, `people${suffix}`];
    await v1('POST', `sys/auth/${machines}`, { type: 'approle', local, config });
    for (const [role, local_secret_ids] of [
      ['ci', false],
      ['edge', true],
    ] as const) {
      const path = `auth/${machines}/role/${role}`;
      await v1('POST', path, { local_secret_ids, token_ttl: LONG, secret_id_num_uses: 9 });
      const { data: made } = await v1('POST', `${path}/secret-id`, { ttl: LONG });
      const { data: named } = await v1('GET', `${path}/role-id`);
      await v1('POST', `auth/${machines}/login`, {
        role_id: named.role_id,
        secret_id: made.secret_id,
      });
    }
    await v1('POST', `sys/auth/${people}`, { type: 'userpass', local, config });
    await v1('POST', `auth/${people}/users/alice`, { password: 'golden', token_ttl: LONG });
    await v1('POST', `auth/${people}/login/alice`, { password: 'golden' });
    await stranger.v1('POST', `auth/${people}/login/alice`, { password: 'wrong' });
  }
  await v1('POST', 'identity/entity', { name: 'Alice', metadata: { team: 'a' } });
  return [
    ...reads('v1', 'LIST', [
      'identity/entity/id',
      'identity/entity-alias/id',
      'auth/machines/role',
      'auth/people/users',
      'auth/machines-here/role',
    ]),
    ...reads('v1', 'GET', [
      'identity/entity/name/Alice',
      'sys/auth',
      'auth/machines/role/ci',
      'auth/people-here/users/alice',
    ]),
  ];
};
