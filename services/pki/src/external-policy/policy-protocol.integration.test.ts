import {
  basicConstraints,
  type CertificateFields,
  createKeyPair,
  decodePem,
  keyUsage,
  parseCsr,
} from '@keelson/x509';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { third } from '../../test/open-mounts.ts';
import {
  type Document,
  newCsr,
  openPolicyMounts,
  openScriptedService,
  type Scripted,
  templateFor,
} from '../../test/policy-neighbours.ts';

const { mounts, trust, issuer, config } = await openPolicyMounts();
afterAll(() => mounts.close());

describe('requests to the policy service and allowed responses', () => {
  const say: { current: (question: Document) => Promise<Scripted> | Scripted } = {
    current: () => ({ body: {} }),
  };
  let service: Awaited<ReturnType<typeof openScriptedService>>;

  const answering = (
    changes: (question: Document) => object = () => ({}),
    template: (question: Document) => Partial<CertificateFields> = () => ({}),
  ) => {
    say.current = async (question) => ({
      body: {
        request_uuid: question.request_uuid,
        certificate: await templateFor(question, mounts.pki.clock.nowMs(), template(question)),
        issuer_ref: question.vault_request_values.requested_issuer_id,
        ...changes(question),
      },
    });
  };

  const issue = (body: object = {}, path = 'external-policy/issue/some-policy') =>
    mounts.pki.call('POST', path, { key_type: 'ec', ...body });

  beforeAll(async () => {
    service = await openScriptedService(trust, say);
    await mounts.post('config/external-policy', {
      enabled: true,
      external_service_url: service.url,
      trusted_ca: trust.ca,
      vault_client_cert_bundle: `${trust.client.key}\n${trust.client.certificate}`,
    });
  });
  afterAll(() => service.close());
  beforeEach(() => answering());

  test('the request has every field of the protocol, and no private key', async () => {
    const { data } = await issue({
      common_name: 'a',
      nested: { deep: [1, true, null] },
      policy: 'x',
    });
    const question = service.questions.at(-1);
    const [block] = decodePem(question.user_request_key_values.csr);
    const csr = parseCsr(block?.der ?? new Uint8Array(0));
    expect([Buffer.from(csr.subject).toString('hex'), csr.extensions]).toEqual(['3000', []]);
    expect(question).toMatchObject({
      request_version: 1,
      request_uuid: expect.stringMatching(/^[\da-f-]{36}$/),
      synchronous: true,
      vault_request_values: {
        policy_name: 'some-policy',
        mount: 'pki/',
        namespace: '',
        ns: '',
        vault_is_performance_standby: false,
        vault_is_performance_secondary: false,
        issuance_mode: 'issue',
        vault_generated_private_key: true,
        requested_issuer_name: 'main',
        requested_issuer_id: issuer.issuer_id,
        requested_issuer_cert: `${issuer.certificate}\n`,
        requested_issuance_config: {
          aia_values: { issuing_certificates: [], ocsp_servers: [], crl_distribution_points: [] },
          leaf_not_after_behavior: 'err',
          mount_default_ttl: '768h0m0s',
          mount_max_ttl: '87600h0m0s',
        },
      },
    });
    expect(question.user_request_key_values).toMatchObject({
      common_name: 'a',
      key_type: 'ec',
      nested: { deep: [1, true, null] },
    });
    // The path's policy, not one of the body; nothing of root tokens; nothing of ACME.
    expect(question.user_request_key_values).not.toHaveProperty('policy');
    expect(question).not.toHaveProperty('identity_request_key_values');
    expect(question).not.toHaveProperty('acme_request_key_values');
    const secret = decodePem(data.private_key)[0]?.der ?? new Uint8Array(1);
    const [text = ''] = service.texts.slice(-1);
    expect(text).not.toContain('PRIVATE KEY');
    expect(text).not.toContain(Buffer.from(secret).toString('base64').slice(8, 40));
  });

  test('two requests have two ids', async () => {
    await issue();
    await issue();
    const [one, other] = service.questions.slice(-2);
    expect(one.request_uuid).not.toBe(other.request_uuid);
  });

  test.for([
    ['external-policy/sign', 'sign'],
    ['external-policy/sign-intermediate', 'ica'],
  ] as const)('%s sends mode %s with the unchanged CSR', async ([path, mode]) => {
    const csr = newCsr(mounts, 'asked.example.com');
    await issue({ csr: `before\n${csr}after` }, path);
    const { vault_request_values: values, user_request_key_values: user } =
      service.questions.at(-1);
    expect([values.issuance_mode, values.vault_generated_private_key, values.policy_name]).toEqual([
      mode,
      false,
      '',
    ]);
    expect(user.csr).toBe(csr);
  });

  test('serial number, issuer, key identifier and signature are set by the issuer', async () => {
    const { data } = await issue();
    expect(mounts.verifies(issuer.certificate, [], data.certificate)).toBe(true);
    const text = mounts.textOf(data.certificate);
    expect(text).toContain('X509v3 Authority Key Identifier');
    expect(text).toContain('X509v3 Subject Key Identifier');
    expect(data.serial_number.split(':').length).toBeGreaterThan(15);
  });

  const refusals: readonly (readonly [string, () => void, number, RegExp])[] = [
    ['another request id', () => answering(() => ({ request_uuid: 'x' })), 502, /request_uuid/],
    ['no issuer', () => answering(() => ({ issuer_ref: '' })), 502, /issuer_ref is missing/],
    ['a member that is not known', () => answering(() => ({ ttl: 1 })), 502, /unknown members/],
    ['a warning that is not text', () => answering(() => ({ warnings: [1] })), 502, /not a string/],
    ['too many warnings', () => answering(() => ({ warnings: Array(65).fill('w') })), 502, /64/],
    [
      'a lease of what is not kept',
      () => answering(() => ({ generate_lease: true })),
      502,
      /lease/,
    ],
    ['a flag that is text', () => answering(() => ({ store_certificate: 'no' })), 502, /boolean/],
    ['neither certificate nor error', () => answering(() => ({ certificate: '' })), 502, /neither/],
    ['what is no certificate', () => answering(() => ({ certificate: 'x' })), 502, /not one PEM/],
    ['an error', () => answering(() => ({ certificate: '', error: 'no!' })), 400, /request: no!/],
    [
      'a status other than 200',
      () => {
        say.current = () => ({ status: 403, body: 'secret' });
      },
      502,
      /status is 403/,
    ],
    [
      'a redirect',
      () => {
        say.current = () => ({ status: 307, headers: { location: '/' }, body: '' });
      },
      502,
      /status is 307/,
    ],
    [
      'what is not JSON',
      () => {
        say.current = () => ({ body: '{' });
      },
      502,
      /not JSON/,
    ],
    [
      'a list',
      () => {
        say.current = () => ({ body: [] });
      },
      502,
      /not a JSON object/,
    ],
    [
      'too much',
      () => {
        say.current = () => ({ body: ' '.repeat(1_100_000) });
      },
      502,
      /bytes/,
    ],
    [
      'a certificate of a CA',
      () =>
        answering(undefined, () => ({
          extensions: [basicConstraints({ isCa: true }), keyUsage(['CertSign'])],
        })),
      502,
      /is a CA certificate/,
    ],
    [
      'the right to sign certificates',
      () => answering(undefined, () => ({ extensions: [keyUsage(['CertSign'])] })),
      400,
      /CertSign/,
    ],
    [
      'a precertificate',
      () =>
        answering(undefined, () => ({
          extensions: [
            { oid: '1.3.6.1.4.1.11129.2.4.3', critical: false, value: Buffer.from('0500', 'hex') },
          ],
        })),
      502,
      /11129/,
    ],
    [
      'a critical extension nobody knows',
      () =>
        answering(undefined, () => ({
          extensions: [{ oid: '1.2.3.4', critical: true, value: Buffer.from('0500', 'hex') }],
        })),
      400,
      /critical extension/,
    ],
    [
      'a malformed extension',
      () =>
        answering(undefined, () => ({
          extensions: [{ oid: '2.5.29.19', critical: true, value: Buffer.from('ff', 'hex') }],
        })),
      502,
      /cannot be read/,
    ],
    [
      'a validity that is over',
      () => answering(undefined, () => ({ notAfterMs: mounts.pki.clock.nowMs() - 1000 })),
      502,
      /expired/,
    ],
    [
      'a validity the wrong way round',
      () => answering(undefined, () => ({ notBeforeMs: mounts.pki.clock.nowMs() + 7_200_000 })),
      502,
      /before it begins/,
    ],
    [
      'a validity beyond the maximum of the mount',
      () =>
        answering(undefined, () => ({ notAfterMs: mounts.pki.clock.nowMs() + 87_700 * 3_600_000 })),
      502,
      /later than the maximum lifetime of the mount allows/,
    ],
    [
      'a validity beyond the issuer',
      () =>
        answering(undefined, () => ({ notAfterMs: mounts.pki.clock.nowMs() + 80_100 * 3_600_000 })),
      400,
      /beyond the expiration/,
    ],
  ];

  test.for(refusals)('%s is refused', async ([, arrange, status, text]) => {
    arrange();
    const answer = await issue();
    expect(answer.json.errors?.[0]).toMatch(text);
    expect(answer.status).toBe(status);
    expect(answer.bytes.toString()).not.toContain('secret');
  });

  test('a certificate for another key is refused', async () => {
    const { publicKeyDer } = await createKeyPair({ type: 'ec', bits: 256 });
    answering(undefined, () => ({ publicKeyDer }));
    const { status, json } = await issue();
    expect(status).toBe(502);
    expect(json.errors[0]).toMatch(/another key/);
  });

  test('a certificate with an error is treated as one with a warning', async () => {
    answering(() => ({ error: 'soon to be refused', warnings: ['first'] }));
    const { status, json } = await issue();
    expect([status, json.warnings]).toEqual([200, ['first', 'soon to be refused']]);
  });

  test('an intermediate must be one, and its lifetime is cut at the end of its issuer', async () => {
    const csr = newCsr(mounts, 'Intermediate');
    const asked = (path: string) => mounts.pki.call('POST', path, { csr });
    expect((await asked('external-policy/sign-intermediate')).json.errors[0]).toMatch(
      /not a CA certificate/,
    );
    answering(undefined, () => ({
      notAfterMs: mounts.pki.clock.nowMs() + 80_100 * 3_600_000,
      extensions: [basicConstraints({ isCa: true }), keyUsage(['CertSign', 'CRLSign'])],
    }));
    const { data } = await asked('external-policy/sign-intermediate');
    const endOf = (pem: string): string =>
      mounts.openssl('x509', '-noout', '-enddate', '-in', mounts.file('dated.pem', pem));
    expect(endOf(data.certificate)).toBe(endOf(issuer.certificate));
    expect(mounts.verifies(issuer.certificate, [], data.certificate)).toBe(true);
  });

  test('a response beyond the limits of the protocol is refused before it is sent', async () => {
    const before = service.questions.length;
    const { status } = await issue({ one: 'x'.repeat(600_000), other: 'x'.repeat(600_000) });
    expect([status, service.questions.length]).toEqual([413, before]);
  });

  test('a service that does not answer is abandoned after its time limit', async () => {
    await config({ timeout: '1s' });
    say.current = () => new Promise(() => undefined);
    const { status, json } = await issue();
    expect([status, json.errors[0]]).toEqual([
      503,
      'the external policy service cannot be reached or did not answer in time',
    ]);
    await config({ timeout: '15s' });
  });

  test('one replica has at most 64 open requests and refuses the next', async () => {
    const waiting = Promise.withResolvers<void>();
    const all = Promise.withResolvers<void>();
    let count = 0;
    say.current = async (question) => {
      if (++count === 64) all.resolve();
      await waiting.promise;
      return { body: { request_uuid: question.request_uuid, error: 'enough' } };
    };
    const asked = Array.from({ length: 64 }, () => issue());
    await all.promise;
    const refused = await issue();
    waiting.resolve();
    expect([refused.status, refused.json.errors[0]]).toEqual([
      503,
      'too many requests to the external policy service are in progress',
    ]);
    for (const { status } of await Promise.all(asked)) expect(status).toBe(400);
  });

  test('health covers the time since the configuration was changed', async () => {
    await config({ timeout: '14s' });
    const read = async () => (await mounts.pki.call('GET', 'config/external-policy')).data;
    expect(await read()).toMatchObject({ external_service_validated: false });
    await issue();
    const now = new Date(mounts.pki.clock.nowMs()).toISOString();
    expect(await read()).toMatchObject({
      external_service_validated: true,
      last_successful_request: now,
      last_failure: '',
    });
    say.current = () => ({ status: 500, body: '' });
    await issue();
    expect(await read()).toMatchObject({
      external_service_validated: true,
      last_failed_request: now,
      last_failure: 'the answer of the external policy service cannot be used: its status is 500',
    });
  });

  test('only the pinned certificate is trusted if leaves are pinned', async () => {
    await config({ trusted_ca: '', trusted_leaf_certificate_bundle: trust.server.certificate });
    expect((await issue()).status).toBe(200);
    const twin = await trust.issue({ common_name: 'localhost' });
    await config({ trusted_leaf_certificate_bundle: twin.certificate });
    expect((await issue()).status).toBe(503);
    const failure = async () =>
      (await mounts.pki.call('GET', 'config/external-policy')).data.last_failure;
    expect(await failure()).toMatch(/: its certificate is not in trusted_leaf_certificate_bundle$/);
    await config({ trusted_ca: issuer.certificate, trusted_leaf_certificate_bundle: '' });
    expect((await issue()).status).toBe(503);
    expect(await failure()).toMatch(/: no certificate in trusted_ca vouches for its certificate$/);
    await config({ trusted_ca: trust.ca });
    expect((await issue()).status).toBe(200);
  });

  test('a name that the certificate does not have is not trusted', async () => {
    const elsewhere = await trust.issue({ common_name: 'elsewhere.example.com' });
    const named = await openScriptedService(trust, say, elsewhere);
    await config({ external_service_url: named.url });
    expect((await issue()).status).toBe(503);
    const { data } = await mounts.pki.call('GET', 'config/external-policy');
    expect(data.last_failure).toMatch(/altnames/);
    expect(named.questions).toEqual([]);
    await named.close();
    await config({ external_service_url: service.url });
  });

  test('the service receives the identity of the requester as the expressions define', async () => {
    const caller = {
      accessor: 'a',
      tokenHash: 'h',
      displayName: 'token-ci',
      policies: ['default', 'issuers'],
      metadata: { team: 'web' },
      entityId: 'e-1',
      namespace: { id: 'root', path: '' },
      root: false,
      sudo: false,
      tokenType: 'service',
      expiresAtEpochSeconds: 0n,
    };
    const ask = async (body: object) => {
      await config(body);
      await mounts.pki.call('POST', 'external-policy/issue', { key_type: 'ec' }, { caller });
      return service.questions.at(-1).identity_request_key_values;
    };
    expect(await ask({})).toEqual({ entity_id: 'e-1' });
    expect(await ask({ entity_jmespath: 'metadata.team', group_jmespath: '@' })).toEqual({
      entity_id: 'e-1',
      entity: 'web',
      groups: [],
    });
    expect(await ask({ entity_jmespath: '@' })).toMatchObject({
      entity: { name: 'token-ci', policies: ['default', 'issuers'] },
    });
  });

  test('the service may choose another issuer than the path names', async () => {
    const chosen = await mounts.root('Chosen', undefined, { issuer_name: 'other-one' });
    for (const issuer_ref of ['other-one', chosen.issuer_id])
      for (const before of ['', 'issuer/main/']) {
        answering(() => ({ issuer_ref }));
        const { data } = await issue({}, `${before}external-policy/issue`);
        expect(data.issuing_ca).toBe(chosen.certificate);
        expect(mounts.verifies(chosen.certificate, [], data.certificate)).toBe(true);
        const { vault_request_values: asked } = service.questions.at(-1);
        expect(asked.requested_issuer_name).toBe('main');
      }
  });

  test('a mount without a default issuer lets the service choose', async () => {
    const mount = third;
    await mounts.root('First', mount, { issuer_name: 'first' });
    await mounts.root('Third', mount, { issuer_name: 'chosen' });
    await mounts.pki.call('DELETE', 'issuer/first', undefined, { mount });
    await config(
      {
        enabled: true,
        external_service_url: service.url,
        trusted_ca: trust.ca,
        vault_client_cert_bundle: trust.client.certificate + trust.client.key,
      },
      mount,
    );
    answering(() => ({ issuer_ref: 'chosen' }));
    const { status } = await mounts.pki.call(
      'POST',
      'external-policy/issue',
      { key_type: 'ec' },
      { mount },
    );
    expect(status).toBe(200);
    expect(service.questions.at(-1).vault_request_values).toMatchObject({
      requested_issuer_id: '',
      requested_issuer_name: '',
      requested_issuer_cert: '',
    });
    const missing = await mounts.pki.call(
      'POST',
      'issuer/nobody/external-policy/issue',
      { key_type: 'ec' },
      { mount },
    );
    expect(missing.status).toBe(404);
  });
});
