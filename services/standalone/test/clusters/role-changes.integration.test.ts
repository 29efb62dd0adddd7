/**
 * Responses to callers with a valid token while clusters change roles: the expected one, or a request to
 * retry. No role change makes a valid token look like one without permissions.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type NatsServer, startNats } from '@keelson/testkit';
import {
  attach,
  type Cluster,
  generateOperationToken,
  generateRoot,
  startCluster,
  until,
  untilEqual,
  untilStreaming,
} from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const WITHIN_MS = 240_000;
const DR = 'sys/replication/dr';
const PERFORMANCE = 'sys/replication/performance';
const POLICY = { policy: 'path "pki/*" { capabilities = ["read"] }' };

let nats: NatsServer;
let first: Cluster;
let spare: Cluster;
let branch: Cluster;

beforeAll(async () => {
  nats = await startNats({ jetstream: true });
  [first, spare, branch] = await Promise.all([
    startCluster(nats.url),
    startCluster(nats.url),
    startCluster(nats.url),
  ]);
  await first.v1('POST', 'sys/mounts/pki', { type: 'pki' });
  await first.v1('POST', 'pki/root/generate/internal', { common_name: 'Root', key_type: 'ec' });
  await first.v1('POST', 'pki/roles/web', { allow_any_name: true });
}, WITHIN_MS);
afterAll(async () => {
  for (const cluster of [first, spare, branch]) await cluster?.stop();
  await nats[Symbol.asyncDispose]();
}, WITHIN_MS);

interface Seen {
  readonly request: string;
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
}

/** Callers of a cluster until they are stopped; those of each kind call one after the other. */
const callWhileItChanges = (cluster: Cluster) => {
  const seen: Seen[] = [];
  const token = cluster.token;
  let isOver = false;
  const requests: readonly (readonly [string, string, object?])[] = [
    ['GET', 'auth/token/lookup-self'],
    ['GET', 'sys/mounts'],
    ['GET', 'pki/roles/web'],
    ['POST', 'auth/token/create', { ttl: '1m', no_parent: true }],
    ['POST', 'sys/policies/acl/during', POLICY],
    ['POST', 'pki/roles/during', { allow_any_name: true }],
    ['POST', 'pki/issue/web', { common_name: 'a.example.com', ttl: '1h' }],
  ];
  const callers = requests.map(async ([method, path, body]) => {
    while (!isOver) {
      const { status, headers, body: answer } = await cluster.v1(method, path, body, token);
      seen.push({
        request: `${method} ${path}`,
        status,
        retryAfter: headers.get('retry-after'),
        text: status < 300 ? '' : JSON.stringify(answer),
      });
      // Leaves the machine to the change itself.
      await delay(5);
    }
  });
  return async (): Promise<readonly Seen[]> => {
    isOver = true;
    await Promise.all(callers);
    return seen;
  };
};

/** Responses that are neither a success nor a refusal with `Retry-After`. */
const unexpected = (seen: readonly Seen[], ...allowed: readonly string[]): readonly Seen[] =>
  seen.filter(
    ({ status, retryAfter, text }) =>
      status >= 300 &&
      !(status === 503 && retryAfter !== null) &&
      !allowed.some((one) => text.includes(one)),
  );
const wasServed = (seen: readonly Seen[]): boolean => seen.some(({ status }) => status < 300);

const IS_DR_SECONDARY = 'path disabled in replication DR secondary mode';
/** A write that was on its way when its primary stepped back. */
const IS_UNKNOWN = 'the primary did not answer in time';

describe('callers with a valid token', { timeout: WITHIN_MS, sequential: true } as object, () => {
  test('while sets are created', async () => {
    const stop = callWhileItChanges(first);
    for (const base of [DR, PERFORMANCE])
      expect((await first.v1('POST', `${base}/primary/enable`, {})).status).toBe(200);
    const seen = await stop();
    expect(unexpected(seen)).toEqual([]);
    expect(wasServed(seen)).toBe(true);
  });

  test('while other clusters are activated, whose own tokens then end', async () => {
    const stop = callWhileItChanges(first);
    await attach('dr', first, spare, 'spare');
    await attach('performance', first, branch, 'branch');
    branch.token = await generateRoot(branch, first.shares);
    const seen = await stop();
    expect(unexpected(seen)).toEqual([]);
    expect(wasServed(seen)).toBe(true);
  });

  test('while the primary is demoted and its DR secondary takes over', async () => {
    await untilEqual('dr', first, spare);
    const operation = await generateOperationToken(spare, first.shares);
    spare.token = first.token;
    const stops = [first, spare, branch].map(callWhileItChanges);
    expect((await first.v1('POST', `${DR}/primary/demote`)).status).toBe(200);
    await until(
      () => spare.v1('POST', `${DR}/secondary/promote`, { dr_operation_token: operation }),
      ({ status }) => status === 200,
    );
    await until(
      () => spare.v1('POST', 'pki/roles/after', { allow_any_name: true }),
      ({ status }) => status === 204 || status === 200,
    );
    await untilStreaming('performance', branch);
    const [ofFirst = [], ofSpare = [], ofBranch = []] = await Promise.all(
      stops.map((stop) => stop()),
    );
    expect(unexpected(ofFirst, IS_DR_SECONDARY)).toEqual([]);
    expect(unexpected(ofSpare, IS_DR_SECONDARY)).toEqual([]);
    expect(unexpected(ofBranch, IS_UNKNOWN)).toEqual([]);
    expect([ofFirst, ofSpare, ofBranch].map(wasServed)).toEqual([true, true, true]);
  });
});
