/**
 * A caller chooses the Host header of a request, and X-Forwarded-Host with it. Nothing that others follow may
 * name what it says: each place that makes an address is asked under a hostile name, without a configured
 * public address.
 */
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  type KeelsonProcess,
  type MailServer,
  type RepositoryServer,
  startKeelson,
  startMailServer,
  startRepositoryServer,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const HOSTILE = 'evil.example';
const WITHIN_MS = 120_000;

/** Bodies that a destination of notifications has received. */
const notified: string[] = [];
const destination = createServer((incoming, response) => {
  let text = '';
  incoming
    .setEncoding('utf8')
    .on('data', (chunk: string) => (text += chunk))
    .on('end', () => {
      notified.push(text);
      response.writeHead(200).end();
    });
});

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let keelson: KeelsonProcess;
let mail: MailServer;
let repositories: RepositoryServer;

beforeAll(async () => {
  await once(destination.listen(0, '127.0.0.1'), 'listening');
  [folder, mail, repositories] = await Promise.all([
    temporaryDirectory(),
    startMailServer(),
    startRepositoryServer(),
  ]);
  keelson = await startKeelson({
    dataFolder: join(folder.path, 'data'),
    env: {
      KEELSON_OUTBOUND_RANGES: '127.0.0.1',
      KEELSON_WORKSPACE_SMTP_URL: mail.url,
      KEELSON_WORKSPACE_MAIL_FROM: 'keelson@keelson.example',
      KEELSON_NATS_URL: 'nats://127.0.0.1:1',
    },
  });
}, WITHIN_MS);
afterAll(async () => {
  await keelson.stop();
  await mail[Symbol.asyncDispose]();
  await repositories[Symbol.asyncDispose]();
  await new Promise((closed) => destination.close(closed));
  await folder[Symbol.asyncDispose]();
});

interface Answer {
  readonly status: number | undefined;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- documents of many shapes
  readonly body: any;
}

/** Sends a request under the hostile name. */
const send = async (method: string, path: string, body?: object): Promise<Answer> => {
  const sent = request(keelson.http + path, {
    method,
    headers: {
      host: HOSTILE,
      'x-forwarded-host': HOSTILE,
      forwarded: `host=${HOSTILE}`,
      'content-type': path.startsWith('/api') ? 'application/vnd.api+json' : 'application/json',
      ...(path.startsWith('/api') && { authorization: `Bearer ${keelson.apiToken}` }),
      ...(path.startsWith('/v1') && { 'x-service-token': keelson.rootToken }),
    },
  });
  sent.end(body && JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += String(chunk);
  const isJson = String(response.headers['content-type']).includes('json');
  return { status: response.statusCode, text, body: isJson && text ? JSON.parse(text) : undefined };
};

const api = async (method: string, path: string, type: string, attributes: object) => {
  const answer = await send(method, `/api/v2/${path}`, { data: { type, attributes } });
  if ((answer.status ?? 0) >= 300) throw new Error(`${path}: ${answer.text}`);
  return answer.body.data;
};

const v1 = async (method: string, path: string, body?: object) => {
  const answer = await send(method, `/v1/${path}`, body);
  if ((answer.status ?? 0) >= 300) throw new Error(`${path}: ${answer.text}`);
  return answer;
};

const payloadOf = (jwt: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());

test('what others follow never names the Host header of a request', {
  timeout: WITHIN_MS,
}, async () => {
  await api('POST', 'organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  await api('POST', 'organizations/acme/organization-memberships', 'organization-memberships', {
    email: 'ada@b.example',
  });

  const client = await api('POST', 'organizations/acme/oauth-clients', 'oauth-clients', {
    'service-provider': 'github',
    'http-url': repositories.url,
    'api-url': `${repositories.url}/api`,
    'oauth-token-string': 'token-of-the-provider',
  });
  const workspace = await api('POST', 'organizations/acme/workspaces', 'workspaces', {
    name: 'app',
    'vcs-repo': {
      identifier: 'acme/infra',
      'oauth-token-id': client.relationships['oauth-tokens'].data[0].id,
    },
  });
  expect(workspace.attributes['vcs-repo']).toMatchObject({
    'webhook-url': null,
    problem: expect.stringContaining('KEELSON_PUBLIC_URL is not set') as unknown,
  });
  const { port } = destination.address() as AddressInfo;
  await api(
    'POST',
    `workspaces/${workspace.id}/notification-configurations`,
    'notification-configurations',
    {
      name: 'told',
      enabled: true,
      'destination-type': 'generic',
      url: `http://127.0.0.1:${port}/`,
      triggers: ['run:created'],
    },
  );
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const application = await api('POST', 'organizations/acme/oauth-clients', 'oauth-clients', {
    'service-provider': 'bitbucket_data_center',
    'http-url': repositories.url,
    'api-url': repositories.url,
    key: 'keelson',
    secret: privateKey,
    'rsa-public-key': publicKey,
  });
  expect(application.attributes['callback-url']).toBeNull();
  const begun = await send(
    'POST',
    `/api/v2/oauth-clients/${application.id}/actions/begin-authorization`,
  );
  expect([begun.status, begun.text]).toEqual([409, expect.stringContaining('KEELSON_PUBLIC_URL')]);

  // The certificate authority, and the set that clusters join.
  await v1('POST', 'sys/mounts/pki', { type: 'pki' });
  await v1('POST', 'pki/config/acme', { enabled: false });
  const answers = [
    await v1('POST', 'pki/root/generate/internal', { common_name: 'Root', key_type: 'ec' }),
    await v1('GET', 'pki/config/urls'),
    await v1('GET', 'pki/config/cluster'),
    await send('GET', '/v1/pki/acme/directory'),
    await send('GET', '/.well-known/terraform.json'),
    await send('GET', '/api/v2/ping'),
    await v1('GET', 'sys/leader'),
    await v1('GET', 'sys/health'),
  ];
  for (const { text } of answers) expect(text).not.toContain(HOSTILE);
  await v1('POST', 'sys/replication/dr/primary/enable', {});
  const issued = await v1('POST', 'sys/replication/dr/primary/secondary-token', { id: 'two' });
  expect(payloadOf(issued.body.wrap_info.token)).not.toHaveProperty('addr');

  expect(notified).toHaveLength(1);
  expect(JSON.stringify([mail.mails, repositories.calls, notified])).not.toContain(HOSTILE);
  expect(mail.mails).toEqual([]);
  expect(repositories.calls.filter(({ path }) => path.endsWith('/hooks'))).toEqual([]);
});
