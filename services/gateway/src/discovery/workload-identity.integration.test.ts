/**
 * The documents with which others verify tokens of runs.
 *
 * | asked                                                | answer                                     |
 * | ---------------------------------------------------- | ------------------------------------------ |
 * | either document, without a token                     | 200, JSON, to be cached for five minutes   |
 * | the description, without a public address            | 404, which names the setting               |
 * | while the cluster is sealed                          | 503, which nobody caches                   |
 * | more often than the limit of a client allows         | 429                                        |
 * | with another method                                  | 404                                        |
 */
import { KeelsonError } from '@keelson/errors';
import type { WorkloadIdentityDefinition } from '@keelson/proto/workspace/v1/workload_identity';
import type { RpcService } from '@keelson/rpc';
import { stubService } from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway } from '../../test/stub-services.ts';

const DOCUMENTS = ['/.well-known/openid-configuration', '/.well-known/jwks'] as const;
type WorkloadIdentity = RpcService<typeof WorkloadIdentityDefinition>;
const described = (describe: WorkloadIdentity['describe']) =>
  stubService<WorkloadIdentity>({ describe });
let gateway: Awaited<ReturnType<typeof startGateway>>;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

test.for(DOCUMENTS)('anybody may read %s, and keep it for five minutes', async (path) => {
  const answer = await fetch(gateway.http + path);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
  expect(Object.keys((await answer.json()) as object)).toHaveLength(1);
});

test.for(DOCUMENTS)('%s is only read', async (path) => {
  expect((await fetch(gateway.http + path, { method: 'POST', body: '{}' })).status).toBe(404);
});

test('an installation without a public address has keys alone', async () => {
  const describe = () => Promise.resolve({ discoveryJson: '', keysJson: '{"keys":[]}' });
  const own = await startGateway({}, undefined, {}, { workloadIdentity: described(describe) });
  const [description, keys] = await Promise.all(DOCUMENTS.map((path) => fetch(own.http + path)));
  expect(description?.status).toBe(404);
  expect(await description?.text()).toContain('KEELSON_PUBLIC_URL');
  expect(description?.headers.get('cache-control')).not.toMatch(/public/);
  expect(keys?.status).toBe(200);
  await own.stop();
});

test('a sealed cluster says so, which nobody caches', async () => {
  const refuse = () => Promise.reject(new KeelsonError('sys.sealed'));
  const own = await startGateway({}, undefined, {}, { workloadIdentity: described(refuse) });
  for (const path of DOCUMENTS) {
    const answer = await fetch(own.http + path);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('cache-control')).not.toMatch(/public/);
  }
  await own.stop();
});

test('a client that asks too often is refused', async () => {
  const own = await startGateway({
    KEELSON_TRUSTED_PROXIES: '127.0.0.1',
    KEELSON_CLIENT_RATE_LIMIT: '5',
  });
  const headers = { 'x-forwarded-for': '203.0.113.9' };
  const asked = Array.from({ length: 200 }, () => fetch(own.http + DOCUMENTS[1], { headers }));
  expect((await Promise.all(asked)).map(({ status }) => status)).toContain(429);
  await own.stop();
});
