/** Accounts and what binds them (RFC 8555 §7.3). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AcmeAnswer,
  AcmeClient,
  bindAccount,
  CLUSTER_PATH,
  newAccountKey,
  signJws,
} from '../../../test/acme-client.ts';
import { type OpenAcme, openAcme } from '../../../test/open-acme.ts';

let acme: OpenAcme;
beforeAll(async () => {
  acme = await openAcme();
  await acme.post('roles/web', { allow_localhost: true, key_type: 'ec' });
}, 60_000);
afterAll(() => acme.close());

const problem = ({ status, json }: AcmeAnswer) => [
  status,
  json.type?.replace('urn:ietf:params:acme:error:', ''),
];

describe('an account', () => {
  test('is created once for a key', async () => {
    const client = acme.client();
    const made = await client.register({
      contact: ['mailto:admin@example.org'],
      termsOfServiceAgreed: true,
      somethingElse: 1,
    });
    expect(made.status).toBe(201);
    expect(made.header('location')).toMatch(`${CLUSTER_PATH}/acme/account/`);
    expect(made.json).toEqual({
      status: 'valid',
      contact: ['mailto:admin@example.org'],
      termsOfServiceAgreed: true,
      orders: `${made.header('location')}/orders`,
    });
    const again = new AcmeClient(acme.pki, 'acme/', client.key);
    const found = await again.register({ contact: ['mailto:other@example.org'] });
    expect([found.status, found.header('location')]).toEqual([200, made.header('location')]);
    expect(found.json).toEqual(made.json);
  });

  test('requested eight times at once is created once', async () => {
    const client = acme.client();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => client.post('new-account', {})),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      ...Array(7).fill(200),
      201,
    ]);
    expect(new Set(answers.map((one) => one.header('location'))).size).toBe(1);
  });

  test('that is only looked up is not created (§7.3.1)', async () => {
    const client = acme.client();
    const answer = await client.register({ onlyReturnExisting: true });
    expect(problem(answer)).toEqual([400, 'accountDoesNotExist']);
    const made = await client.register();
    client.account = '';
    const found = await client.register({ onlyReturnExisting: true });
    expect([found.status, found.header('location')]).toEqual([200, made.header('location')]);
    expect(found.json).toEqual(made.json);
  });

  test('that exists is shown unchanged, whatever else the request contains (§7.3.1)', async () => {
    const client = acme.client();
    const made = await client.register({ contact: ['mailto:a@example.org'] });
    for (const payload of [
      { contact: ['tel:+12025551212'] },
      { contact: 5, termsOfServiceAgreed: 'yes' },
      { externalAccountBinding: 'none' },
    ]) {
      client.account = '';
      const found = await client.register(payload);
      expect([found.status, found.header('location')]).toEqual([200, made.header('location')]);
      expect(found.json).toEqual(made.json);
    }
  });

  test.for([
    ['RS256', 'n'],
    ['RS256', 'e'],
  ] as const)('of %s is the same with zero octets before %s (§8.1)', async ([alg, member]) => {
    const key = newAccountKey(alg);
    const padded = Buffer.concat([
      Buffer.alloc(2),
      Buffer.from(key.jwk[member] ?? '', 'base64url'),
    ]);
    const jwk = { ...key.jwk, [member]: padded.toString('base64url') };
    const made = await new AcmeClient(acme.pki, 'acme/', key).post('new-account', {}, { jwk });
    expect(made.status).toBe(201);
    const found = await new AcmeClient(acme.pki, 'acme/', key).register();
    expect([found.status, found.header('location')]).toEqual([200, made.header('location')]);
  });

  test('belongs to its directory', async () => {
    const client = acme.client();
    await client.register();
    const other = new AcmeClient(acme.pki, 'roles/web/acme/', client.key);
    other.account = client.account;
    expect(problem(await other.post('orders'))).toEqual([400, 'accountDoesNotExist']);
    other.account = client.account.replace('/acme/', '/roles/web/acme/');
    expect(problem(await other.post('orders'))).toEqual([400, 'accountDoesNotExist']);
    other.account = '';
    expect((await other.register()).status).toBe(201);
  });

  test.for([
    [['tel:+12025551212'], 'unsupportedContact'],
    [['mailto:a@example.org?subject=x'], 'invalidContact'],
    [['mailto:a@example.org,b@example.org'], 'invalidContact'],
    [['mailto:'], 'invalidContact'],
    [[`mailto:${'a'.repeat(400)}@example.org`], 'invalidContact'],
    [[1], 'malformed'],
    ['mailto:a@example.org', 'malformed'],
    [Array(11).fill('mailto:a@example.org'), 'malformed'],
  ] as const)('with the contacts %o is refused', async ([contact, type]) => {
    const client = acme.client();
    expect(problem(await client.register({ contact }))).toEqual([400, type]);
    await client.register();
    expect(problem(await client.post(client.account, { contact }))).toEqual([400, type]);
  });

  test('is created from members that are null, and contacts with white space around them', async () => {
    const client = acme.client();
    const made = await client.register({
      contact: ['mailto: g@example.org', ' mailto:h@example.org\t'],
      onlyReturnExisting: null,
      termsOfServiceAgreed: null,
      externalAccountBinding: null,
    });
    const contact = ['mailto:g@example.org', 'mailto:h@example.org'];
    expect([made.status, made.json.contact]).toEqual([201, contact]);
    const changed = await client.post(client.account, { contact: null, status: null });
    expect([changed.status, changed.json.contact]).toEqual([200, contact]);
    const other = await acme.client().register({ contact: null });
    expect([other.status, other.json.contact]).toEqual([201, []]);
  });

  test('is read and changed by its owner only (§7.3.2)', async () => {
    const client = acme.client();
    const made = await client.register({ contact: ['mailto:a@example.org'] });
    const changed = await client.post(client.account, {
      contact: ['mailto:b@example.org'],
      orders: 'x',
      key: 'x',
      termsOfServiceAgreed: true,
      externalAccountBinding: {},
    });
    expect([changed.status, changed.json]).toEqual([
      200,
      { ...made.json, contact: ['mailto:b@example.org'] },
    ]);
    expect((await client.post(client.account, {})).json).toEqual(changed.json);
    expect((await client.post(client.account)).json).toEqual(changed.json);
    expect((await client.post(client.account, { contact: [] })).json.contact).toEqual([]);
    const stranger = acme.client();
    await stranger.register();
    for (const url of [client.account, `${client.account}/orders`])
      expect(problem(await stranger.post(url))).toEqual([403, 'unauthorized']);
    const ignored = await client.post(client.account, { status: 'revoked' });
    expect([ignored.status, ignored.json.status]).toEqual([200, 'valid']);
  });

  test('that was deactivated can do nothing more (§7.3.6)', async () => {
    const client = acme.client();
    await client.register();
    const order = await client.order('localhost');
    const closed = await client.post(client.account, { status: 'deactivated' });
    expect([closed.status, closed.json.status]).toEqual([200, 'deactivated']);
    for (const resource of ['orders', client.account, order.header('location') ?? ''])
      expect(problem(await client.post(resource))).toEqual([401, 'unauthorized']);
    client.account = '';
    expect(problem(await client.register())).toEqual([401, 'unauthorized']);
  });
});

describe('key rollover (§7.3.5)', () => {
  const change = async (
    client: AcmeClient,
    newKey = newAccountKey(),
    header: object = {},
    payload: object = {},
  ) => {
    const url = client.url('key-change');
    const inner = signJws(
      newKey,
      { jwk: newKey.jwk, url, ...header },
      {
        account: client.account,
        oldKey: client.key.jwk,
        ...payload,
      },
    );
    return client.post('key-change', inner);
  };

  test('replaces the old key by the new one', async () => {
    const client = acme.client();
    await client.register();
    const newKey = newAccountKey('ES384');
    const changed = await change(client, newKey);
    expect([changed.status, changed.header('location')]).toEqual([200, client.account]);
    expect(problem(await client.post('orders'))).toEqual([400, 'badSignatureAlgorithm']);
    const renewed = new AcmeClient(acme.pki, 'acme/', newKey);
    expect((await renewed.register({ onlyReturnExisting: true })).header('location')).toBe(
      client.account,
    );
    const old = new AcmeClient(acme.pki, 'acme/', client.key);
    expect((await old.register()).status).toBe(201);
  });

  test('keeps open orders, which are proven with the new key', async () => {
    const client = acme.client();
    await client.register();
    const order = await client.order('localhost');
    const newKey = newAccountKey();
    expect((await change(client, newKey)).status).toBe(200);
    const renewed = new AcmeClient(acme.pki, 'acme/', newKey);
    renewed.account = client.account;
    const url = order.header('location') ?? '';
    expect((await renewed.post(url)).json).toEqual(order.json);
    await acme.prove(renewed, order);
    expect((await acme.settle(renewed, url, ['pending'])).json.status).toBe('ready');
  });

  test('to a key that has an account is a conflict with that account', async () => {
    const [client, other] = [acme.client(), acme.client()];
    await client.register();
    await other.register();
    const answer = await change(client, other.key);
    expect([answer.status, answer.header('location')]).toEqual([409, other.account]);
    expect((await change(client, client.key)).status).toBe(409);
  });

  test('requires a valid proof in the inner request', async () => {
    const client = acme.client();
    await client.register();
    const key = newAccountKey();
    const url = client.url('key-change');
    for (const answer of [
      await change(client, key, { kid: client.account }),
      await change(client, key, { jwk: undefined }),
      await change(client, key, { url: client.url('new-order') }),
      await change(client, key, { nonce: 'AAAA' }),
      await change(client, key, {}, { account: 'https://elsewhere.test' }),
      await change(client, key, {}, { oldKey: key.jwk }),
      await change(client, { ...key, privateKey: newAccountKey().privateKey }),
      await client.post('key-change', {}),
      await client.post('key-change', signJws(key, { jwk: key.jwk, url }, 'text')),
    ])
      expect(problem(answer)).toEqual([400, 'malformed']);
    expect((await client.post('orders')).status).toBe(200);
  });
});

describe('external account binding (§7.3.4)', () => {
  const bound = async (
    client: AcmeClient,
    eab: { readonly id: string; readonly key: string },
    hash = 'sha256',
  ) =>
    client.register({
      externalAccountBinding: bindAccount(client.key, eab, client.url('new-account'), hash),
    });
  const newEab = async (directory = 'acme/') => (await acme.post(`${directory}new-eab`)).data;
  const unused = async (): Promise<readonly string[]> =>
    (await acme.pki.call('LIST', 'eab')).data?.keys ?? [];

  test.for(['acme/', 'roles/web/acme/', 'issuer/default/acme/', 'issuer/default/roles/web/acme/'])(
    'keys are created for %s, listed until used, and valid only there',
    async (directory) => {
      const eab = await newEab(directory);
      expect(eab).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        key: expect.stringMatching(/^vault-eab-0-[\w-]{52}$/),
        key_type: 'hs',
        acme_directory: `${directory}directory`,
        created_on: expect.stringMatching(/^\d{4}-.*Z$/),
      });
      const listed = await acme.pki.call('LIST', 'eab');
      const { id, key, ...shown } = eab;
      expect(key).toBeDefined();
      expect(listed.data.key_info[id]).toEqual(shown);
      const elsewhere = acme.client(directory === 'acme/' ? 'roles/web/acme/' : 'acme/');
      expect(problem(await bound(elsewhere, eab))).toEqual([403, 'unauthorized']);
      expect(await unused()).toContain(eab.id);
      const client = acme.client(directory);
      const externalAccountBinding = bindAccount(client.key, eab, client.url('new-account'));
      const made = await client.register({ externalAccountBinding });
      expect(made.status).toBe(201);
      expect(made.json.externalAccountBinding).toEqual(externalAccountBinding);
      expect(await unused()).not.toContain(eab.id);
      expect(problem(await bound(acme.client(directory), eab))).toEqual([403, 'unauthorized']);
    },
  );

  test.for(['sha256', 'sha384', 'sha512'])('a MAC with %s is accepted', async (hash) => {
    expect((await bound(acme.client(), await newEab(), hash)).status).toBe(201);
  });

  test('an invalid binding uses up no key', async () => {
    const eab = await newEab();
    const client = acme.client();
    const url = client.url('new-account');
    const good = bindAccount(client.key, eab, url);
    const register = (externalAccountBinding: unknown) =>
      client.register({ externalAccountBinding });
    const wrongKey = { ...eab, key: Buffer.alloc(41, 1).toString('base64url') };
    expect(problem(await bound(client, wrongKey))).toEqual([403, 'unauthorized']);
    expect(problem(await bound(client, { ...eab, id: 'none' }))).toEqual([403, 'unauthorized']);
    const otherUrl = bindAccount(client.key, eab, client.url('new-order'));
    expect(problem(await register(otherUrl))).toEqual([403, 'unauthorized']);
    const otherKey = bindAccount(newAccountKey(), eab, url);
    expect(problem(await register(otherKey))).toEqual([400, 'malformed']);
    expect(problem(await register('text'))).toEqual([400, 'malformed']);
    expect(problem(await register({}))).toEqual([400, 'malformed']);
    const withNonce = bindAccount(client.key, eab, url, 'sha256', { nonce: 'AAAA' });
    expect(problem(await register(withNonce))).toEqual([400, 'malformed']);
    const unnamed = bindAccount(client.key, eab, url, 'sha256', { kid: undefined });
    expect(problem(await register(unnamed))).toEqual([400, 'malformed']);
    expect(problem(await register({ ...good, signature: '' }))).toEqual([403, 'unauthorized']);
    expect(problem(await register(signJws(client.key, { kid: eab.id, url }, {})))).toEqual([
      400,
      'badSignatureAlgorithm',
    ]);
    expect((await register(good)).status).toBe(201);
  });

  test.for([
    ['roles/none/acme/', 400, 'unknown role: none'],
    ['issuer/default/roles/none/acme/', 400, 'unknown role: none'],
    ['issuer/none/acme/', 404, 'unable to find PKI issuer for reference: none'],
  ] as const)(
    'no keys are created for %s, where they would be useless',
    async ([directory, ...refused]) => {
      const { status, json } = await acme.pki.call('POST', `${directory}new-eab`);
      expect([status, json.errors[0]]).toEqual(refused);
      expect(await unused()).toEqual([]);
    },
  );

  test('an unused key can be deleted', async () => {
    const eab = await newEab();
    expect((await acme.pki.call('DELETE', `eab/${eab.id}`)).json.warnings).toBeNull();
    expect(await unused()).not.toContain(eab.id);
    expect(problem(await bound(acme.client(), eab))).toEqual([403, 'unauthorized']);
    const again = await acme.pki.call('DELETE', `eab/${eab.id}`);
    expect(again.json.warnings).toEqual([`No key id found with id: ${eab.id}`]);
    expect((await acme.pki.call('DELETE', 'eab/none')).status).toBe(400);
  });

  test('eab_policy decides who needs one', async () => {
    const old = acme.client();
    await old.register();
    await acme.post('config/acme', { eab_policy: 'new-account-required' });
    expect((await old.get('directory')).json.meta.externalAccountRequired).toBe(true);
    expect(problem(await acme.client().register())).toEqual([403, 'externalAccountRequired']);
    expect((await old.post('orders')).status).toBe(200);
    const bare = new AcmeClient(acme.pki, 'acme/', old.key);
    expect((await bare.register()).status).toBe(200);
    await acme.post('config/acme', { eab_policy: 'always-required' });
    expect(problem(await old.post('orders'))).toEqual([403, 'externalAccountRequired']);
    const client = acme.client();
    expect((await bound(client, await newEab())).status).toBe(201);
    expect((await client.post('orders')).status).toBe(200);
    await acme.post('config/acme', { eab_policy: 'not-required' });
  });
});

test('a mount enabled before the setting shows its own policy, and takes other changes', async () => {
  const open = await openAcme();
  try {
    const { service } = open.pki.openReplica({ SERVICE_DISABLE_PUBLIC_ACME: 'true' });
    const closed = { ...open.pki, service };
    const client = new AcmeClient(closed);
    expect(problem(await client.register())).toEqual([403, 'externalAccountRequired']);
    const send = (method: string, body?: object) =>
      open.pki.call(method, 'config/acme', body, { service });
    const read = await send('GET');
    expect(read.data.eab_policy).toBe('not-required');
    expect(read.json.warnings[0]).toContain('every account needs an external account binding');
    expect((await send('POST', { max_ttl: 3600 })).status).toBe(200);
    expect((await send('POST', { eab_policy: 'new-account-required' })).status).toBe(400);
  } finally {
    await open.close();
  }
});

test.for([
  'KEELSON_ACME_DISABLE_PUBLIC',
  'SERVICE_DISABLE_PUBLIC_ACME',
  'VAULT_DISABLE_PUBLIC_ACME',
  'BAO_DISABLE_PUBLIC_ACME',
])('%s forces a binding on all', async (name) => {
  const closed = await openAcme({ [name]: 'true' }, { eab_policy: 'always-required' });
  try {
    expect(problem(await closed.client().register())).toEqual([403, 'externalAccountRequired']);
    const refused = await closed.pki.call('POST', 'config/acme', { eab_policy: 'not-required' });
    expect(refused.status).toBe(400);
    expect(refused.json.errors[0]).toContain("needs to be 'always-required'");
    await closed.post('config/acme', { enabled: false, eab_policy: 'not-required' });
  } finally {
    await closed.close();
  }
});
