/** Authorities with certificates, revocations and settings, in replicated mounts and in a local one. */
import { makeAcmeOrders } from './golden-acme.ts';
import { type GoldenCalls, type GoldenRead, LONG, reads } from './golden-calls.ts';

const METADATA = Buffer.from('golden').toString('base64');

interface Issued {
  readonly serial_number: string;
  readonly private_key: string;
}

export const issue = async ({ v1 }: GoldenCalls, mount: string, name: string): Promise<Issued> => {
  const body = { common_name: `${name}.example.com`, ttl: '70000h', cert_metadata: METADATA };
  return (await v1('POST', `${mount}/issue/web`, body)).data;
};

/** Makes and certifies the authority of `pki`. @returns its id */
const makeIssuer = async ({ v1 }: GoldenCalls): Promise<string> => {
  for (const mount of ['root', 'local-pki'])
    await v1('POST', `${mount}/root/generate/internal`, {
      common_name: `Golden ${mount}`,
      key_type: 'ec',
      ttl: LONG,
    });
  const request = await v1('POST', 'pki/intermediate/generate/internal', {
    common_name: 'Golden Intermediate',
    key_type: 'ec',
  });
  const signed = await v1('POST', 'root/root/sign-intermediate', {
    csr: request.data.csr,
    common_name: 'Golden Intermediate',
    ttl: '80000h',
  });
  const chain: string = [signed.data.certificate, signed.data.issuing_ca].join('\n');
  const set = await v1('POST', 'pki/intermediate/set-signed', { certificate: chain });
  return set.data.imported_issuers[0];
};

const settle = async ({ v1 }: GoldenCalls, mount: string, https: string): Promise<void> => {
  await v1('POST', `${mount}/config/urls`, { issuing_certificates: ['http://ca.example.com/ca'] });
  await v1('POST', `${mount}/config/cluster`, { path: `${https}/v1/${mount}` });
  await v1('POST', `${mount}/config/auto-tidy`, { enabled: false, tidy_cert_store: true });
  await v1('POST', `${mount}/roles/web`, {
    allowed_domains: ['example.com'],
    allow_subdomains: true,
    key_type: 'ec',
    max_ttl: LONG,
    no_store_metadata: false,
  });
  await v1('POST', `${mount}/config/est`, {
    enabled: true,
    label_to_path_policy: { [mount]: 'role:web' },
    authenticators: { userpass: {} },
  });
  await v1('POST', `${mount}/config/external-policy`, {
    external_service_url: 'https://policy.example.com/',
    entity_jmespath: '@',
  });
};

/** Revokes a certificate whose key was found, and lifts the ban of the key. */
const revokeWithKey = async (calls: GoldenCalls, mount: string, isLifted: boolean) => {
  const { v1 } = calls;
  const { serial_number, private_key } = await issue(calls, mount, 'compromised');
  await v1('POST', `${mount}/revoke-with-key`, { serial_number, private_key });
  if (!isLifted) return;
  const { data } = await v1('LIST', `${mount}/keys/compromised`);
  await v1('DELETE', `${mount}/keys/compromised/${data.keys[0]}`);
};

/** Lists that are not rebuilt at each revocation, so that revocations wait for the next one. */
const UNIFIED_LISTS = {
  expiry: '48h',
  auto_rebuild: true,
  enable_delta: true,
  unified_crl: true,
  cross_cluster_revocation: true,
};
const UNKNOWN_SERIAL = Array(20).fill('11').join(':');

export const makePki = async (
  calls: GoldenCalls,
  https: string,
): Promise<readonly GoldenRead[]> => {
  const { v1 } = calls;
  for (const [mount, local] of Object.entries({ root: false, pki: false, 'local-pki': true }))
    await v1('POST', `sys/mounts/${mount}`, {
      type: 'pki',
      local,
      config: { max_lease_ttl: LONG },
    });
  const issuer = await makeIssuer(calls);
  await v1('POST', 'pki/config/crl', UNIFIED_LISTS);
  await v1('POST', 'local-pki/config/crl', { expiry: '48h' });
  for (const mount of ['pki', 'local-pki']) {
    await settle(calls, mount, https);
    await revokeWithKey(calls, mount, true);
  }
  await revokeWithKey(calls, 'pki', false);
  const kept = await issue(calls, 'pki', 'kept');
  const revoked = await issue(calls, 'pki', 'revoked');
  await v1('POST', 'pki/revoke', { serial_number: revoked.serial_number });
  await v1('POST', 'pki/revoke', { serial_number: UNKNOWN_SERIAL });
  await v1('POST', 'pki/tidy', { tidy_cert_store: true });
  await v1('POST', 'pki/roles/leased', {
    allow_any_name: true,
    key_type: 'ec',
    generate_lease: true,
  });
  await v1('POST', 'pki/issue/leased', { common_name: 'leased.example.com', ttl: '70000h' });
  await v1('POST', 'local-pki/config/acme', { enabled: true });
  return [
    ...(await makeAcmeOrders(calls, `${https}/v1/pki`)),
    ...reads('v1', 'LIST', ['pki/certs', 'pki/certs/revoked', 'pki/issuers', 'pki/keys']),
    ...reads('v1', 'LIST', ['pki/roles', 'pki/keys/compromised', 'root/issuers']),
    ...reads('v1', 'LIST', ['pki/certs/revocation-queue', 'pki/certs/unified-revoked']),
    ...reads('v1', 'GET', [
      'pki/roles/web',
      `pki/issuer/${issuer}`,
      `pki/cert/${kept.serial_number}`,
      `pki/cert/${revoked.serial_number}`,
      `pki/cert-metadata/${kept.serial_number}`,
      ...['urls', 'crl', 'cluster', 'auto-tidy', 'est', 'external-policy'].flatMap((name) => [
        `pki/config/${name}`,
        `local-pki/config/${name}`,
      ]),
      'pki/config/issuers',
      'pki/config/keys',
      'root/cert/ca',
      'local-pki/cert/ca',
      'local-pki/roles/web',
      'local-pki/config/acme',
    ]),
  ];
};
