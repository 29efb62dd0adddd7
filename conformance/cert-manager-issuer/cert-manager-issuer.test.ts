/** The issuer of cert-manager, as published, signs in to a real process in each documented way and has requests signed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  findGoModule,
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { type KubernetesApi, startKubernetesApi } from '@keelson/testkit/kubernetes-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';

interface Manifest {
  readonly auth?: object;
  readonly spec?: { readonly vault?: { readonly auth?: object } };
}

const issuer = await findGoModule(import.meta.dirname);

/** The first build of the client's packages takes minutes. */
const WITHIN_MS = 900_000;

/** The `auth` of the manifests in docs/signing-in.md, in their order. */
const [ofKubernetes, ofAppRole, ofClientCertificate] = [
  ...readFileSync(new URL('../../docs/signing-in.md', import.meta.url), 'utf8').matchAll(
    /^```yaml\n([\s\S]*?)^```$/gm,
  ),
]
  .flatMap(([, text = '']) =>
    parseAllDocuments(text).map((document) => document.toJS() as Manifest),
  )
  .flatMap((manifest) => manifest.spec?.vault?.auth ?? manifest.auth ?? [])
  .map((auth) => JSON.stringify(auth));

let folder: TemporaryDirectory | undefined;
let keelson: KeelsonProcess | undefined;
let kubernetes: KubernetesApi | undefined;

beforeAll(async () => {
  kubernetes = await startKubernetesApi();
  kubernetes.reviewers.add('reviewer');
  folder = await temporaryDirectory();
  keelson = await startKeelson({
    dataFolder: join(folder.path, 'data'),
    env: { KEELSON_OUTBOUND_RANGES: '127.0.0.0/8' },
  });
}, WITHIN_MS);
afterAll(async () => {
  await keelson?.stop();
  await kubernetes?.stop();
  await folder?.[Symbol.asyncDispose]();
});

test('by token, secret id, service account and client certificate', {
  timeout: WITHIN_MS,
}, async () => {
  const { http = '', https = '', rootToken = '', dataFolder = '' } = keelson ?? {};
  const call = async (path: string, body: object): Promise<void> => {
    const response = await fetch(`${http}/v1/${path}`, {
      method: 'POST',
      headers: { 'x-service-token': rootToken },
      body: JSON.stringify(body),
    });
    expect([path, response.ok]).toEqual([path, true]);
  };
  await call('sys/mounts/pki', { type: 'pki' });
  await call('pki/root/generate/internal', { common_name: 'Shop', key_type: 'ec' });
  await call('pki/roles/web', {
    allowed_domains: 'example.com',
    allow_subdomains: true,
    key_type: 'ec',
  });
  await call('sys/policies/acl/signer', {
    policy: 'path "pki/sign/web" { capabilities = ["update"] }',
  });
  expect(await issuer.vet()).toBe('');
  const report = await issuer.test({
    ADDRESS: https,
    CA_FILE: join(dataFolder, 'tls', 'ca.pem'),
    TOKEN: rootToken,
    AUTH_KUBERNETES: ofKubernetes,
    AUTH_APP_ROLE: ofAppRole,
    AUTH_CLIENT_CERTIFICATE: ofClientCertificate,
    CLUSTER_URL: kubernetes?.url,
    CLUSTER_CA: kubernetes?.caPem,
    CLUSTER_REVIEWER: 'reviewer',
    CLUSTER_TOKEN: kubernetes?.issue('shop/issuer', ['vault://shop/keelson', https]),
  });
  expect(report).toMatch(/^ok\s/m);
  expect(report).not.toContain('FAIL');
});
