/** The method ldap, with Debian's slapd as the directory. */
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import {
  DIRECTORY_BASE,
  DIRECTORY_READER,
  type Directory,
  startDirectory,
} from '@keelson/testkit/ldap-directory';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { recordRequests } from '../../test/directory-requests.ts';
import { mountOf, type OpenAuth, openAuth } from '../../test/open-auth.ts';

const MANY = Array.from(
  { length: 1001 },
  (_, index) => `
dn: cn=g${index},ou=many,${DIRECTORY_BASE}
objectClass: groupOfNames
cn: g${index}
member: uid=bob,ou=people,${DIRECTORY_BASE}
`,
).join('');
const FURTHER = `
dn: ou=many,${DIRECTORY_BASE}
objectClass: organizationalUnit
ou: many
${MANY}
dn: ou=twins,${DIRECTORY_BASE}
objectClass: organizationalUnit
ou: twins

dn: cn=one,ou=twins,${DIRECTORY_BASE}
objectClass: inetOrgPerson
cn: one
sn: twin
userPassword: password of a twin

dn: cn=two,ou=twins,${DIRECTORY_BASE}
objectClass: inetOrgPerson
cn: two
sn: twin
userPassword: password of a twin
`;

let auth: OpenAuth;
let directory: Directory;
beforeAll(async () => {
  auth = await openAuth({ outboundRanges: ['127.0.0.0/8'] });
  directory = await startDirectory(FURTHER);
}, 60_000);
afterAll(async () => {
  await auth.close();
  await directory.stop();
});

let serial = 0;
let mount: ReturnType<typeof mountOf>;
/** Nothing that is answered or logged has a password. */
const call = async (method: string, path: string, body?: unknown, from = auth.call) => {
  const answer = await from('ldap', method, path, body, { mount });
  const shown = `${auth.logged.join('')}${JSON.stringify(answer.json)}`;
  if (/password of (?:alice|bob|neil)|reader of a test/.test(shown))
    throw new Error('a password is shown');
  return answer;
};
beforeEach(() => {
  serial += 1;
  mount = mountOf('ldap', `8f0b1c1e-0000-4000-8000-${String(serial).padStart(12, '0')}`);
  auth.logins.length = 0;
  auth.logged.length = 0;
});

const PEOPLE = `ou=people,${DIRECTORY_BASE}`;
const GROUPS = `ou=groups,${DIRECTORY_BASE}`;
/** The directory, with its people searched for by an account. */
const searched = () => ({
  url: directory.url,
  ...DIRECTORY_READER,
  userdn: PEOPLE,
  userattr: 'uid',
  groupdn: GROUPS,
});
const configure = async (settings: object = {}) => {
  const answer = await call('POST', 'config', { ...searched(), ...settings });
  expect([answer.status, answer.json?.errors]).toEqual([expect.any(Number), undefined]);
  return answer;
};
const logIn = async (name = 'alice', password = 'password of alice') => {
  auth.logins.length = 0;
  const path = `login/${encodeURIComponent(name)}`;
  const { status, json } = await call('POST', path, { password });
  expect(auth.logins).toHaveLength(status === 200 ? 1 : 0);
  return [status, ...(json.errors ?? [])];
};
const IN = [200];
const WRONG = [400, 'ldap operation failed: failed to bind as user'];
const AWAY = [400, 'the directory cannot be asked at the moment'];
const DIRECT = { binddn: '', bindpass: '' };

describe('a login', () => {
  test.for([
    ['an account searches for people', {}],
    ['the DN is made of the name', DIRECT],
    ['people are searched for anonymously', { ...DIRECT, discoverdn: true }],
    ['groups are searched for anonymously', { anonymous_group_search: true }],
  ] as const)('verifies a password where %s', async ([, settings]) => {
    await configure(settings);
    expect(await logIn()).toEqual(IN);
    expect(auth.logins).toMatchObject([{ groupAliases: ['Domain Admins', 'web'] }]);
    expect(await logIn('alice', 'password of bob')).toEqual(WRONG);
    expect(await logIn('nobody')).toEqual(WRONG);
  });

  test.for([
    ['an account searches for people', {}, ['bind', 'search', 'bind']],
    ['the DN is made of the name', DIRECT, ['bind']],
    [
      'people are searched for anonymously',
      { ...DIRECT, discoverdn: true },
      ['bind', 'search', 'bind'],
    ],
  ] as const)('asks as much about a name that nobody has where %s', async ([, settings, asked]) => {
    await using recorder = await recordRequests(Number(new URL(directory.url).port));
    await configure({ ...settings, url: `ldap://127.0.0.1:${recorder.port}` });
    for (const [name, password] of [
      ['alice', 'password of bob'],
      ['nobody', 'password of alice'],
    ] as const) {
      recorder.requests.length = 0;
      expect(await logIn(name, password)).toEqual(WRONG);
      expect([name, recorder.requests]).toEqual([name, asked]);
    }
  });

  test('knows the groups of the directory, and their policies and those of the user', async () => {
    await configure({ token_policies: 'all', token_ttl: '1h' });
    await call('POST', 'groups/Domain%20Admins', { policies: 'admin,all' });
    await call('POST', 'groups/extra', { policies: 'more' });
    await call('POST', 'groups/other', { policies: 'never' });
    await call('POST', 'users/Alice', { groups: 'Extra', policies: 'own' });
    expect(await logIn('ALICE')).toEqual(IN);
    expect(auth.logins).toMatchObject([
      {
        displayName: 'alice',
        metadata: { username: 'alice' },
        aliasName: 'alice',
        limits: { policies: ['all', 'more', 'admin', 'own'], ttlSeconds: 3600 },
        groupAliases: ['Extra', 'Domain Admins', 'web'],
      },
    ]);
    expect(await logIn('bob', 'password of bob')).toEqual(IN);
    expect(auth.logins).toMatchObject([{ limits: { policies: ['all'] }, groupAliases: ['web'] }]);
  });

  test('names the alias by the attribute of people, or by the name of the login', async () => {
    const byMail = {
      userattr: 'mail',
      userfilter: '(|(uid={{.Username}})({{.UserAttr}}={{.Username}}))',
    };
    await configure(byMail);
    await logIn();
    expect(auth.logins).toMatchObject([{ aliasName: 'alice@example.com' }]);
    await configure({ username_as_alias: true });
    await logIn();
    expect(auth.logins).toMatchObject([{ aliasName: 'alice' }]);
  });

  test.for([
    '*',
    'alice)(uid=*',
    'a*',
    String.raw`alice\29`,
    'alice,ou=people',
    'uid=alice',
    'alice+cn=Alice',
    '"alice"',
    'alice;x',
    '#616c696365',
  ])('of %s is nobody, with a search and without', async (name) => {
    await configure();
    expect(await logIn(name)).toEqual(WRONG);
    await configure(DIRECT);
    expect(await logIn(name)).toEqual(WRONG);
  });

  test('of a name with a character of DNs and filters is that person', async () => {
    for (const settings of [{}, DIRECT]) {
      await configure(settings);
      expect(await logIn('o,neil', 'password of neil')).toEqual(IN);
    }
  });

  test.for([' alice', 'alice ', 'a\u0007b', 'a\nb', 'x'.repeat(257)])(
    'of %j is refused without a question to the directory',
    async (name) => {
      await configure({ url: 'ldap://127.0.0.1:1' });
      expect(await logIn(name)).toEqual([400, expect.stringContaining('the name in the path')]);
    },
  );

  test('without a password is refused, also for a directory that takes it as anonymous', async () => {
    await configure({ deny_null_bind: true });
    expect(await logIn('alice', '')).toEqual([
      400,
      'password cannot be of zero length when passwordless binds are being denied',
    ]);
  });

  test('of a name that several people have is nobody', async () => {
    await configure({ userdn: `ou=twins,${DIRECTORY_BASE}`, userattr: 'sn' });
    expect(await logIn('twin', 'password of a twin')).toEqual(WRONG);
  });

  test('of somebody in too many groups is refused', async () => {
    await configure({ groupdn: `ou=many,${DIRECTORY_BASE}` });
    expect(await logIn('bob', 'password of bob')).toEqual(AWAY);
    expect(auth.logged.join('')).toContain('more than 1000 entries');
  });

  test('is locked after failures, and unlocked with the next success', async () => {
    mount = {
      ...mount,
      userLockout: { disabled: false, threshold: 2, durationSeconds: 60, counterResetSeconds: 60 },
    };
    await configure();
    for (const name of ['alice', 'nobody']) {
      await logIn(name, 'wrong');
      await logIn(name, 'wrong');
      expect(await logIn(name)).toEqual([403, 'permission denied']);
    }
    auth.clock.advance(60_000);
    expect(await logIn()).toEqual(IN);
  });

  test.for([{}, { case_sensitive_names: true }])(
    'counts all spellings that a directory may take for one name together with %j',
    async (settings) => {
      await configure(settings);
      const spellings = ['ALICE', 'Alice', 'alic\u00e9', 'ali\u00adce', '\uff41lice'];
      for (const name of spellings) expect(await logIn(name, 'wrong')).toEqual(WRONG);
      expect(await logIn()).toEqual([403, 'permission denied']);
      const { methods } = auth.service;
      expect(await methods.listLockedUsers({ mount })).toEqual({ aliasNames: ['alice'] });
      await methods.unlockUser({ mount, aliasName: 'Alice' });
      expect(await logIn()).toEqual(IN);
      for (const spaces of [' ', '  ', '   ', '\u00a0', ' \u200b '])
        expect(await logIn(`some${spaces}body`, 'wrong')).toEqual(WRONG);
      expect(await logIn('some body')).toEqual([403, 'permission denied']);
    },
  );

  test('needs a configuration', async () => {
    expect(await logIn()).toEqual([400, 'ldap backend not configured']);
  });
});

describe('the connection', () => {
  test('is under TLS from its beginning or by StartTLS, with a certificate of the authority', async () => {
    const tls = { certificate: directory.caPem, tls_max_version: 'tls13' };
    for (const settings of [{ url: directory.tlsUrl }, { starttls: true }]) {
      await configure({ ...tls, starttls: false, ...settings });
      expect(await logIn()).toEqual(IN);
      await configure({ certificate: '', ...settings });
      expect(await logIn()).toEqual(AWAY);
      await configure({ insecure_tls: true, ...settings });
      expect(await logIn()).toEqual(IN);
      await configure({ insecure_tls: false, url: directory.url });
    }
    expect(auth.logged.join('')).toContain('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
  });

  test('goes to the next server where one is away', async () => {
    await configure({ url: `ldap://127.0.0.1:1,${directory.url}` });
    expect(await logIn()).toEqual(IN);
  });

  test('goes to no address that the operator does not permit', async () => {
    const closed = await openAuth();
    try {
      const options = { mount };
      await closed.call('ldap', 'POST', 'config', searched(), options);
      const body = { password: 'password of alice' };
      const { json } = await closed.call('ldap', 'POST', 'login/alice', body, options);
      expect(json.errors).toEqual([AWAY[1]]);
      expect(closed.logged.join('')).toContain(
        'the address policy permits no address of 127.0.0.1',
      );
    } finally {
      await closed.close();
    }
  });

  test('to a directory that is away or does not know the account fails with a reason', async () => {
    await configure({ url: 'ldap://127.0.0.1:1' });
    expect(await logIn()).toEqual(AWAY);
    expect(auth.logged.join('')).toContain('ECONNREFUSED');
    await configure({ bindpass: 'another' });
    expect(await logIn()).toEqual(AWAY);
    expect(auth.logged.join('')).toContain('does not accept binddn and bindpass');
  });

  describe('to a server that is no directory', () => {
    let server: Server;
    let answer: (write: (bytes: Buffer) => boolean) => void;
    beforeEach(async () => {
      server = createServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => answer((bytes) => socket.write(bytes)));
      });
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
      const address = server.address();
      const port = typeof address === 'object' ? address?.port : 0;
      await configure({ url: `ldap://127.0.0.1:${port}`, request_timeout: 1 });
      return () => void server.close();
    });

    test('has an end when it is silent', async () => {
      answer = () => undefined;
      expect(await logIn()).toEqual(AWAY);
      expect(auth.logged.join('')).toContain('no answer in time');
    });

    test('has an end when it answers without one', async () => {
      // One message of 1 GiB, of which more and more arrives.
      const chunk = Buffer.alloc(1024 * 1024);
      answer = (write) => {
        write(Buffer.from([0x30, 0x84, 0x40, 0, 0, 0, 0x02, 0x01, 0x02]));
        for (let index = 0; index < 16; index += 1) write(chunk);
      };
      expect(await logIn()).toEqual(AWAY);
    });

    test('does not begin again without TLS and account when it is closed', async () => {
      server.on('connection', (socket) => socket.once('data', () => socket.destroy()));
      let connections = 0;
      server.on('connection', () => {
        connections += 1;
      });
      answer = () => undefined;
      expect(await logIn()).toEqual(AWAY);
      expect(connections).toBe(1);
    });
  });
});

describe('a renewal', () => {
  const renew = async () => {
    const loginData = auth.logins[0]?.loginData ?? Buffer.alloc(0);
    return (await auth.renew(mount, loginData))?.policies;
  };

  test.for([
    ['with an account', {}],
    ['without', DIRECT],
  ] as const)('has the policies as of now, %s that asks the directory', async ([, settings]) => {
    await configure({ token_policies: 'all', ...settings });
    await call('POST', 'groups/web', { policies: 'one' });
    await logIn();
    expect(await renew()).toEqual(['all', 'one']);
    await call('POST', 'groups/web', { policies: 'two' });
    expect(await renew()).toEqual(['all', 'two']);
    expect(JSON.stringify(auth.logins[0]?.loginData.toString())).not.toContain('password');
  });

  test('of somebody that the directory no longer finds is refused', async () => {
    await configure();
    await logIn();
    await configure({ userfilter: '(&({{.UserAttr}}={{.Username}})(mail=none))' });
    await expect(renew()).rejects.toThrow('its login would be refused now');
    await configure({ url: 'ldap://127.0.0.1:1' });
    await expect(renew()).rejects.toThrow('the directory cannot be asked at the moment');
  });
});

describe('the configuration', () => {
  test('is read as it was written, without the password; a change keeps what it does not name', async () => {
    const { json } = await configure({ policies: 'dev', token_ttl: '1h' });
    expect(json.warnings).toEqual([expect.stringContaining('without TLS')]);
    await configure({ url: directory.tlsUrl, groupattr: 'ou' });
    const { data } = await call('GET', 'config');
    expect(data).toMatchObject({
      url: directory.tlsUrl,
      binddn: DIRECTORY_READER.binddn,
      userdn: PEOPLE,
      userattr: 'uid',
      groupattr: 'ou',
      userfilter: '({{.UserAttr}}={{.Username}})',
      groupfilter: '(|(memberUid={{.Username}})(member={{.UserDN}})(uniqueMember={{.UserDN}}))',
      tls_min_version: 'tls12',
      request_timeout: 10,
      deny_null_bind: true,
      token_policies: ['dev'],
      policies: ['dev'],
      token_ttl: 3600,
    });
    expect(data.bindpass).toBeUndefined();
  });

  test.for([
    [{ url: 'http://127.0.0.1' }, 'url must be'],
    [{ url: 'ldap://user@127.0.0.1' }, 'url must be'],
    [{ url: '' }, 'url must be'],
    [{ url: Array(9).fill('ldap://a') }, 'url must be 1 to 8'],
    [{ userfilter: '(uid={{.Username}}' }, 'userfilter must be an LDAP filter'],
    [{ userfilter: '({{.UserAttr}}={{.UserDN}})' }, 'userfilter must be an LDAP filter'],
    [{ groupfilter: '(member={{range .}})' }, 'groupfilter must be an LDAP filter'],
    [{ userattr: 'uid)(x' }, 'userattr must be the name of an attribute'],
    [{ certificate: 'none' }, 'certificate must be certificates in PEM'],
    [{ tls_min_version: 'ssl3' }, "invalid 'tls_min_version'"],
    [{ tls_min_version: 'tls13', tls_max_version: 'tls12' }, 'tls_max_version must be greater'],
    [{ request_timeout: 31 }, 'request_timeout must be between 1 and 30'],
    [{ connection_timeout: 0 }, 'connection_timeout must be between 1 and 30'],
    [{ binddn: 'cn=x', bindpass: '' }, 'binddn and bindpass need each other'],
    [{ starttls: true, url: 'ldaps://a' }, 'starttls is for ldap:// URLs'],
    [{ use_token_groups: true }, 'use_token_groups is not supported'],
    [{ upndomain: 'a b' }, 'upndomain must be'],
    [{ token_policies: 'root' }, 'token_policies cannot contain "root"'],
  ] as const)('is refused with %j', async ([settings, text]) => {
    const { status, json } = await call('POST', 'config', settings);
    expect([status, json.errors]).toEqual([400, [expect.stringContaining(text)]]);
    expect((await call('GET', 'config')).status).toBe(404);
  });
});

describe('users and groups', () => {
  test('are listed, read, changed part by part and deleted', async () => {
    await configure();
    await call('POST', 'users/Alice', { groups: 'A, b', policies: 'One,two' });
    await call('POST', 'users/alice', { policies: 'three' });
    expect((await call('GET', 'users/ALICE')).data).toEqual({ groups: 'A,b', policies: ['three'] });
    expect((await call('LIST', 'users')).data).toEqual({ keys: ['alice'] });
    await call('POST', 'groups/Domain%20Admins', { policies: 'x' });
    expect((await call('LIST', 'groups')).data).toEqual({ keys: ['domain admins'] });
    expect((await call('GET', 'groups/domain%20admins')).data).toEqual({ policies: ['x'] });
    for (const path of ['users/alice', 'groups/Domain%20Admins']) {
      expect((await call('DELETE', path)).status).toBe(204);
      expect((await call('GET', path)).status).toBe(404);
    }
  });

  test('are apart by case where the names are', async () => {
    await configure({ case_sensitive_names: true });
    await call('POST', 'groups/Web', { policies: 'upper' });
    await call('POST', 'groups/web', { policies: 'lower' });
    await logIn();
    expect(auth.logins).toMatchObject([{ limits: { policies: ['lower'] } }]);
  });

  test.for(['users', 'groups'])('%s are refused with the policy root', async (kind) => {
    const { status, json } = await call('POST', `${kind}/x`, { policies: 'a,Root' });
    expect([status, json.errors]).toEqual([400, [expect.stringContaining('"root"')]]);
  });
});

test('the recipe of docs/signing-in.md', async () => {
  const page = await readFile(new URL('../../../../docs/signing-in.md', import.meta.url), 'utf8');
  const [, recipe = ''] = page.split('## A team with a directory\n');
  const [config, group] = [...recipe.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(
    ([, block = '']) => JSON.parse(block) as Readonly<Record<string, unknown>>,
  );
  await configure({
    ...config,
    url: directory.tlsUrl,
    certificate: directory.caPem,
    bindpass: DIRECTORY_READER.bindpass,
  });
  await call('POST', 'groups/Domain%20Admins', group);
  expect(await logIn()).toEqual(IN);
  expect(auth.logins).toMatchObject([{ limits: { policies: ['issuer'], ttlSeconds: 28_800 } }]);
  expect(await logIn('bob', 'password of bob')).toEqual(IN);
  expect(auth.logins).toMatchObject([{ limits: { policies: [] } }]);
});
