/** Orders, authorizations, challenges and certificates (RFC 8555 §7.4, §7.5; RFC 8738). */
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AcmeAnswer,
  type AcmeClient,
  CLUSTER_PATH,
  csrFor,
  toIdentifier,
} from '../../../test/acme-client.ts';
import { type OpenAcme, openAcme } from '../../../test/open-acme.ts';

let acme: OpenAcme;
let client: AcmeClient;
beforeAll(async () => {
  acme = await openAcme();
  await acme.post('roles/web', {
    allowed_domains: ['example.com'],
    allow_subdomains: true,
    allow_wildcard_certificates: false,
    allow_localhost: true,
    allow_ip_sans: false,
    key_type: 'ec',
    max_ttl: '72h',
  });
  client = acme.client();
  await client.register();
}, 60_000);
afterAll(() => acme.close());

const problem = ({ status, json }: AcmeAnswer) => [
  status,
  json.type?.replace('urn:ietf:params:acme:error:', ''),
];
const time = (ms: number): string => new Date(ms).toISOString();
const HOUR = 3600 * 1000;

describe('a new order (§7.4)', () => {
  test('has an authorization for each identifier', async () => {
    const answer = await client.order(
      '*.Example.com',
      'www.example.com',
      '10.0.0.1',
      '2001:db8::1',
    );
    expect(answer.status).toBe(201);
    const url = answer.header('location') ?? '';
    expect(url).toMatch(`${CLUSTER_PATH}/acme/order/`);
    expect(answer.json).toEqual({
      status: 'pending',
      expires: expect.stringMatching(/^\d{4}-.*Z$/),
      identifiers: ['*.example.com', 'www.example.com', '10.0.0.1', '2001:db8::1'].map(
        toIdentifier,
      ),
      authorizations: [
        expect.any(String),
        expect.any(String),
        expect.any(String),
        expect.any(String),
      ],
      finalize: `${url}/finalize`,
    });
    expect((await client.post(url)).json).toEqual(answer.json);
    const authorizations = await Promise.all(
      answer.json.authorizations.map(async (one: string) => (await client.post(one)).json),
    );
    const shown = authorizations.map(({ identifier, wildcard, status, challenges }) => [
      identifier.value,
      wildcard,
      status,
      challenges.map(({ type }: { type: string }) => type),
    ]);
    expect(shown).toEqual([
      ['example.com', true, 'pending', ['dns-01']],
      ['www.example.com', undefined, 'pending', ['http-01', 'dns-01', 'tls-alpn-01']],
      ['10.0.0.1', undefined, 'pending', ['http-01']],
      ['2001:db8::1', undefined, 'pending', ['http-01']],
    ]);
    const tokens = authorizations.flatMap(({ challenges }) =>
      challenges.map(({ token }: { token: string }) => token),
    );
    // §8.1: base64url of at least 128 bits, each its own.
    expect(new Set(tokens).size).toBe(6);
    expect(tokens.every((token) => /^[\w-]{43}$/.test(token))).toBe(true);
  });

  test.for([
    [{}, 'malformed'],
    [{ identifiers: [] }, 'malformed'],
    [{ identifiers: 'localhost' }, 'malformed'],
    [{ identifiers: ['localhost'] }, 'malformed'],
    [{ identifiers: [{ type: 'dns' }] }, 'malformed'],
    [{ identifiers: [{ type: 'email', value: 'a@example.com' }] }, 'unsupportedIdentifier'],
    [{ identifiers: [toIdentifier('localhost')], notBefore: 'tomorrow' }, 'malformed'],
    [{ identifiers: [toIdentifier('localhost')], notAfter: 5 }, 'malformed'],
    [{ identifiers: [toIdentifier('localhost')], profile: 'none' }, 'invalidProfile'],
    [{ identifiers: [toIdentifier('localhost')], replaces: 'AA.AA' }, 'malformed'],
    [{ identifiers: [toIdentifier('localhost')], replaces: 'nonsense' }, 'malformed'],
    [{ identifiers: Array(101).fill(toIdentifier('localhost')) }, 'malformed'],
  ] as const)('of %o is refused', async ([payload, type]) => {
    expect(problem(await client.post('new-order', payload))).toEqual([400, type]);
  });

  test.for([
    'bücher.example',
    '-a.example.com',
    'a..example.com',
    'example.com.',
    '*',
    '*.*.example.com',
    'a.*.example.com',
    '1.2.3.4.5',
    'a@example.com',
    `${'a'.repeat(64)}.example.com`,
    'with space.example.com',
    // §7.1.4: what begins with "xn--" is properly encoded.
    'xn--.example.com',
    'xn--a.example.com',
    'xn--0.example.com',
  ])('the name "%s" is refused', async (value) => {
    const answer = await client.post('new-order', { identifiers: [{ type: 'dns', value }] });
    expect(problem(answer)).toEqual([400, 'rejectedIdentifier']);
    expect(answer.json.subproblems).toMatchObject([{ identifier: { type: 'dns', value } }]);
  });

  test('takes names in their encoded form (§7.1.4)', async () => {
    const answer = await client.order('xn--bcher-kva.example');
    expect([answer.status, answer.json.identifiers]).toEqual([
      201,
      [toIdentifier('xn--bcher-kva.example')],
    ]);
  });

  test('holds a hundred identifiers', async () => {
    const names = Array.from({ length: 100 }, (_, number) => `n${number}.example.com`);
    expect((await client.order(...names)).json.authorizations).toHaveLength(100);
  });

  test.for(['10.0.0.1', '2001:db8::1'])('"%s" is not a dns identifier', async (value) => {
    const answer = await client.post('new-order', { identifiers: [{ type: 'dns', value }] });
    expect(problem(answer)).toEqual([400, 'rejectedIdentifier']);
  });

  test.for([
    'example.com',
    '10.0.0',
    '010.0.0.1',
    '2001:db8::1::2',
    '::ffff:10.0.0.1',
    'fe80::1%eth0',
    '10.0.0.0/8',
  ])('the address "%s" is refused (RFC 8738 §3)', async (value) => {
    const answer = await client.post('new-order', { identifiers: [{ type: 'ip', value }] });
    expect(problem(answer)).toEqual([400, 'rejectedIdentifier']);
  });

  test.for(['2001:DB8::1', '2001:0db8::1', '2001:db8:0::1', '2001:db8:0:0:0:0:0:1'])(
    'the address "%s" is ordered in its canonical form (RFC 5952 §4)',
    async (value) => {
      const identifiers = [value, '2001:db8::1'].map((one) => ({ type: 'ip', value: one }));
      const { status, json } = await client.post('new-order', { identifiers });
      expect([status, json.identifiers]).toEqual([201, [{ type: 'ip', value: '2001:db8::1' }]]);
    },
  );

  test('names that the role does not allow are refused with one subproblem each (§6.7.1)', async () => {
    const web = acme.client('roles/web/acme/');
    await web.register();
    expect((await web.order('www.example.com')).status).toBe(201);
    const answer = await web.order(
      'www.example.com',
      'www.example.org',
      '*.example.com',
      '10.0.0.1',
    );
    expect(problem(answer)).toEqual([400, 'rejectedIdentifier']);
    expect(
      answer.json.subproblems.map(({ identifier }: { identifier: object }) => identifier),
    ).toEqual(['www.example.org', '*.example.com', '10.0.0.1'].map(toIdentifier));
    const mixed = await client.post('new-order', {
      identifiers: [
        { type: 'dns', value: '*' },
        { type: 'email', value: 'x' },
      ],
    });
    expect(problem(mixed)).toEqual([400, 'compound']);
    expect(mixed.json.subproblems).toHaveLength(2);
  });

  test('is visible only to its account', async () => {
    const order = await client.order('localhost');
    const stranger = acme.client();
    await stranger.register();
    for (const url of [order.header('location') ?? '', ...order.json.authorizations])
      expect(problem(await stranger.post(url))).toEqual([404, 'malformed']);
  });

  test('expires after a day', async () => {
    const order = await client.order('localhost');
    acme.pki.clock.advance(24 * HOUR);
    const shown = await client.post(order.header('location') ?? '');
    expect(shown.json.status).toBe('invalid');
    const [authorization] = order.json.authorizations;
    const { json } = await client.post(authorization);
    expect(json.status).toBe('expired');
    expect(problem(await client.post(json.challenges[0].url, {}))).toEqual([400, 'malformed']);
    expect(problem(await client.post(order.json.finalize, { csr: 'AAAA' }))).toEqual([
      403,
      'orderNotReady',
    ]);
  });
});

describe('the list of orders (§7.1.2.1)', () => {
  test('shows unfinished orders, in pages', async () => {
    const owner = acme.client();
    await owner.register();
    const made: string[] = [];
    for (let count = 0; count < 501; count++) {
      acme.pki.clock.advance(1);
      made.push((await owner.order('localhost')).header('location') ?? '');
    }
    const first = await owner.post(`${owner.account}/orders`);
    expect(first.json.orders).toEqual(made.slice(0, 500));
    const [next = ''] = first.links('next');
    const second = await owner.post(next);
    expect(second.json.orders).toEqual(made.slice(500));
    expect(second.links('next')).toEqual([]);
    expect((await owner.post('orders')).json).toEqual(first.json);
    acme.pki.clock.advance(24 * HOUR);
    expect((await owner.post('orders')).json.orders).toEqual([]);
  });
});

describe('authorizations and challenges (§7.5)', () => {
  test('a wrong response invalidates challenge, authorization and order, and gives the reason', async () => {
    const order = await client.order('localhost', '127.0.0.1');
    const [first = '', second = ''] = order.json.authorizations;
    const { json } = await client.post(first);
    const challenge = json.challenges.find(({ type }: { type: string }) => type === 'http-01');
    acme.files.set(challenge.token, 'something else');
    const started = await client.post(challenge.url, {});
    expect(started.json).toMatchObject({ status: 'processing', url: challenge.url });
    expect(started.links('up')).toEqual([first]);
    expect(Number(started.header('retry-after'))).toBeGreaterThan(0);
    expect((await client.post(challenge.url, {})).status).toBe(200);
    const other = json.challenges.find(({ type }: { type: string }) => type === 'dns-01');
    expect(problem(await client.post(other.url, {}))).toEqual([400, 'malformed']);
    await acme.failWith(first, {
      type: 'incorrectResponse',
      detail: 'something else was there',
    });
    const failed = await client.post(first);
    expect(failed.json).toMatchObject({
      status: 'invalid',
      challenges: [
        {
          type: 'http-01',
          status: 'invalid',
          error: { type: 'urn:ietf:params:acme:error:incorrectResponse', status: 403 },
        },
      ],
    });
    const shown = await client.post(order.header('location') ?? '');
    expect(shown.json).toMatchObject({
      status: 'invalid',
      error: { subproblems: [{ identifier: toIdentifier('localhost') }] },
    });
    expect((await client.post(challenge.url, {})).json.status).toBe('invalid');
    expect((await client.post(second)).json.status).toBe('pending');
  });

  test('a valid authorization shows the challenge that proved it, and when', async () => {
    const order = await client.order('localhost');
    await acme.prove(client, order);
    const [url] = order.json.authorizations;
    const { json } = await acme.settle(client, url, ['pending']);
    expect(json).toMatchObject({
      status: 'valid',
      challenges: [{ type: 'http-01', status: 'valid', validated: expect.any(String) }],
    });
    expect(Date.parse(json.expires) - acme.pki.clock.nowMs()).toBeGreaterThan(14 * 24 * HOUR);
  });

  test('a response may contain anything, but must be an object (§7.5.1)', async () => {
    const order = await client.order('localhost');
    const [url] = order.json.authorizations;
    const { json } = await client.post(url);
    const challenge = json.challenges.find(({ type }: { type: string }) => type === 'http-01');
    for (const payload of [[], 'text', 5, null])
      expect(problem(await client.post(challenge.url, payload))).toEqual([400, 'malformed']);
    expect((await client.post(url)).json.challenges).toEqual(json.challenges);
    const started = await client.post(challenge.url, { type: 'dns-01', keyAuthorization: 'x' });
    expect([started.status, started.json.type]).toEqual([200, 'http-01']);
    expect(started.json).not.toHaveProperty('keyAuthorization');
    expect((await client.post(url)).status).toBe(200);
  });

  test('a proof by the first attempt is shown in the response to the request that starts it', async () => {
    const order = await client.order('localhost');
    const { json } = await client.post(order.json.authorizations[0]);
    const challenge = json.challenges.find(({ type }: { type: string }) => type === 'http-01');
    acme.files.set(challenge.token, `${challenge.token}.${client.key.thumbprint}`);
    const started = await client.post(challenge.url, {});
    expect(started.json.status).toBe('valid');
    expect(started.header('retry-after')).toBeUndefined();
  });

  test('can be deactivated for good, together with the order (§7.5.2)', async () => {
    const order = await client.order('localhost');
    const [url] = order.json.authorizations;
    expect(problem(await client.post(url, { status: 'valid' }))).toEqual([400, 'malformed']);
    expect(problem(await client.post(url, {}))).toEqual([400, 'malformed']);
    const given = await client.post(url, { status: 'deactivated' });
    expect([given.status, given.json.status]).toEqual([200, 'deactivated']);
    expect((await client.post(order.header('location') ?? '')).json.status).toBe('invalid');
    expect(problem(await client.post(given.json.challenges[0].url, {}))).toEqual([
      400,
      'malformed',
    ]);
  });

  test('an unknown challenge is 404', async () => {
    const order = await client.order('*.example.com');
    const [url] = order.json.authorizations;
    const challenge = url.replace('/authorization/', '/challenge/');
    expect(problem(await client.post(`${challenge}/http-01`, {}))).toEqual([404, 'malformed']);
    expect(problem(await client.post(`${challenge}/none`, {}))).toEqual([404, 'malformed']);
  });
});

describe('finalizing (§7.4)', () => {
  const ready = async (...names: readonly string[]) => {
    const order = await client.order(...names);
    await acme.prove(client, order);
    await acme.settle(client, order.header('location') ?? '', ['pending']);
    return order;
  };

  test('waits for every authorization', async () => {
    const order = await client.order('localhost');
    const csr = await csrFor(['localhost']);
    const answer = await client.post(order.json.finalize, { csr });
    expect(problem(answer)).toEqual([403, 'orderNotReady']);
    const url = order.header('location') ?? '';
    expect(problem(await client.post(`${url}/cert`))).toEqual([403, 'orderNotReady']);
  });

  test('accepts a CSR for exactly the names of the order', async () => {
    const order = await ready('localhost', '127.0.0.1');
    const both = ['localhost', '127.0.0.1'];
    const accountKey = {
      privateKey: client.key.privateKey,
      publicKey: client.key.privateKey,
    };
    for (const csr of [
      await csrFor(['localhost']),
      await csrFor([...both, 'other.example.com']),
      await csrFor([...both, '127.0.0.2']),
      await csrFor(both, { commonName: 'other.example.com' }),
      await csrFor([]),
      await csrFor(both, { key: accountKey }),
      await csrFor(both, { key: generateKeyPairSync('rsa', { modulusLength: 1024 }) }),
      `${(await csrFor(both)).slice(0, -8)}AAAAAAAA`,
      'AAAA',
    ])
      expect(problem(await client.post(order.json.finalize, { csr }))).toEqual([400, 'badCSR']);
    for (const csr of [undefined, 1, '', 'a+b=', 'not base64url'])
      expect(problem(await client.post(order.json.finalize, { csr }))).toEqual([400, 'malformed']);
    const csr = await csrFor(['127.0.0.1'], { commonName: 'LOCALHOST' });
    const done = await client.post(order.json.finalize, { csr });
    expect(done.json.status).toBe('valid');
    const again = await client.post(order.json.finalize, { csr });
    expect(problem(again)).toEqual([403, 'orderNotReady']);
    const { bytes } = await client.post(done.json.certificate);
    const leaf = new X509Certificate(bytes);
    expect(leaf.subjectAltName).toBe('DNS:localhost, IP Address:127.0.0.1');
  });

  test('keeps the fields of the order, and shows when it expires (§7.1.3)', async () => {
    const order = await ready('localhost', '127.0.0.1');
    const csr = await csrFor(['localhost', '127.0.0.1']);
    const { json } = await client.post(order.json.finalize, { csr });
    const { status, certificate, ...kept } = json;
    expect([status, certificate]).toEqual(['valid', expect.any(String)]);
    expect({ ...kept, status: 'pending' }).toEqual(order.json);
    expect((await client.post(order.header('location') ?? '')).json).toEqual(json);
  });

  test('does not use a deactivated authorization (§7.5.2)', async () => {
    const order = await ready('localhost');
    const [url] = order.json.authorizations;
    expect((await client.post(url, { status: 'deactivated' })).json.status).toBe('deactivated');
    const csr = await csrFor(['localhost']);
    expect(problem(await client.post(order.json.finalize, { csr }))).toEqual([
      403,
      'orderNotReady',
    ]);
  });

  test('requested twice at once creates one certificate', async () => {
    const order = await ready('localhost');
    const csr = await csrFor(['localhost']);
    const before = (await acme.pki.call('LIST', 'certs')).data.keys.length;
    const answers = await Promise.all(
      [1, 2, 3].map(() => client.post(order.json.finalize, { csr })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 403, 403]);
    expect((await acme.pki.call('LIST', 'certs')).data.keys).toHaveLength(before + 1);
  });

  test('applies the validity that the order requests', async () => {
    const nowMs = Math.floor(acme.pki.clock.nowMs() / 1000) * 1000;
    const window = { notBefore: time(nowMs + HOUR), notAfter: time(nowMs + 5 * HOUR) };
    const identifiers = [toIdentifier('localhost')];
    const order = await client.post('new-order', { identifiers, ...window });
    expect(Date.parse(order.json.notAfter)).toBe(Date.parse(window.notAfter));
    await acme.prove(client, order);
    await acme.settle(client, order.header('location') ?? '', ['pending']);
    const done = await client.post(order.json.finalize, { csr: await csrFor(['localhost']) });
    const leaf = new X509Certificate((await client.post(done.json.certificate)).bytes);
    expect([leaf.validFrom, leaf.validTo].map(Date.parse)).toEqual(
      Object.values(window).map(Date.parse),
    );
    for (const bad of [
      { notAfter: time(nowMs + 91 * 24 * HOUR) },
      { notBefore: time(nowMs - 301 * 1000) },
      { notBefore: window.notAfter, notAfter: window.notBefore },
    ])
      expect(problem(await client.post('new-order', { identifiers, ...bad }))).toEqual([
        400,
        'malformed',
      ]);
  });
});

test.for([
  [{ not_after_bound: 'forbid' }, ['notBefore']],
  [{ not_before_bound: 'forbid' }, ['notAfter']],
  [{ not_after_bound: '2020-01-01T00:00:00Z' }, ['notBefore']],
  [{ not_before_bound: 'duration', not_before_duration: 10 }, ['notAfter']],
  [{ not_after_bound: 'permit', not_before_bound: 'permit' }, ['notBefore', 'notAfter']],
] as const)('under a role with %o an order may request %o', async ([bounds, allowed]) => {
  await acme.post('roles/bound', { allow_any_name: true, key_type: 'any', ...bounds });
  const client = acme.client('roles/bound/acme/');
  await client.register();
  const nowMs = acme.pki.clock.nowMs();
  const asked = { notBefore: time(nowMs - 100_000), notAfter: time(nowMs + HOUR) };
  const identifiers = [toIdentifier('localhost')];
  for (const name of ['notBefore', 'notAfter'] as const) {
    const { status } = await client.post('new-order', { identifiers, [name]: asked[name] });
    expect([name, status]).toEqual([name, allowed.some((one) => one === name) ? 201 : 400]);
  }
});

describe('the certificate (§7.4.2)', () => {
  test('is available with each chain that leads to a root', async () => {
    const intermediate = await acme.post('issuers/generate/intermediate/internal', {
      common_name: 'Intermediate',
      key_type: 'ec',
    });
    await acme.post('root/generate/internal', {
      common_name: 'Second root',
      ttl: '87600h',
      key_type: 'ec',
      issuer_name: 'second',
    });
    for (const root of ['default', 'second']) {
      const signed = await acme.post(`issuer/${root}/sign-intermediate`, {
        csr: intermediate.data.csr,
        common_name: 'Intermediate',
        ttl: '43800h',
      });
      await acme.post('intermediate/set-signed', { certificate: signed.data.certificate });
    }
    const list = await acme.pki.call('LIST', 'issuers');
    const found: string[] = [];
    for (const id of list.data.keys) {
      const { certificate } = (await acme.pki.call('GET', `issuer/${id}`)).data;
      if (new X509Certificate(certificate).subject === 'CN=Intermediate') found.push(id);
    }
    expect(found).toHaveLength(2);
    const owner = acme.client(`issuer/${found[0]}/acme/`);
    const { certificate, finalized } = await acme.obtain(owner, 'localhost');
    const alternates = certificate.links('alternate');
    expect(alternates).toEqual([`${finalized.json.certificate}/1`]);
    const chains = [certificate, await owner.post(alternates[0] ?? '')].map(({ bytes }) =>
      bytes
        .toString()
        .split(/(?<=-----END CERTIFICATE-----\n)/)
        .map((pem) => new X509Certificate(pem)),
    );
    // RFC 8555 §9.1: nothing but PEM.
    for (const { bytes } of [certificate])
      expect(bytes.toString()).toMatch(
        /^(?:-----BEGIN CERTIFICATE-----\n(?:[\w+/]{64}\n)*[\w+/]{1,64}={0,2}\n-----END CERTIFICATE-----\n\n?)+$/,
      );
    for (const chain of chains) {
      expect(chain).toHaveLength(3);
      for (const [at, member] of chain.entries())
        expect(member.verify((chain[at + 1] ?? member).publicKey)).toBe(true);
    }
    expect(new Set(chains.map((chain) => chain[2]?.subject))).toEqual(
      new Set(['CN=Root', 'CN=Second root']),
    );
    expect(problem(await owner.post(`${finalized.json.certificate}/2`))).toEqual([
      404,
      'malformed',
    ]);
  });
});
