/**
 * The state table of replication, for both kinds: the operations that change a role, with their effects. An
 * operation that the table does not list for a state is refused and changes nothing.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  advanceClockUntilSettled,
  ceremonyToken,
  operationToken,
} from '../../test/cluster-steps.ts';
import { inProcessTransport } from '../../test/in-process-transport.ts';
import { type Document, openSysHarness, type SysHarness } from '../../test/sys-harness.ts';

type Kind = 'performance' | 'dr';

const POLICY = 'path "sys/mounts" { capabilities = ["read"] }';
const OF_A_PRIMARY: readonly (readonly [string, Document])[] = [
  ['primary/demote', {}],
  ['primary/disable', {}],
  ['primary/secondary-token', { id: 'x' }],
  ['primary/revoke-secondary', { id: 'x' }],
];
const OF_A_SECONDARY: readonly (readonly [string, Document])[] = [
  ['secondary/promote', { force: true }],
  ['secondary/update-primary', { token: '' }],
  ['secondary/disable', {}],
];
const BEGINNINGS: readonly (readonly [string, Document])[] = [
  ['primary/enable', {}],
  ['secondary/enable', { token: 'x' }],
];

let other: SysHarness;
let otherKey: string;
let otherToken: string;
let cluster: SysHarness;
let token: string;
let ownKey: string;

beforeEach(async () => {
  const transport = inProcessTransport();
  other = await openSysHarness({ transport });
  ({ key: otherKey, rootToken: otherToken } = await other.initialize());
  cluster = await openSysHarness({ transport });
  ({ rootToken: token, key: ownKey } = await cluster.initialize());
});
afterEach(async () => {
  await cluster.close();
  await other.close();
});

describe.for(['performance', 'dr'] as const)(
  '%s replication',
  { timeout: 60_000 },
  (kind: Kind) => {
    const base = `sys/replication/${kind}`;
    let operation = '';
    beforeEach(() => {
      operation = '';
    });

    const post = (suffix: string, body: Document = {}) =>
      cluster.call('POST', `${base}/${suffix}`, {
        token,
        body: suffix.startsWith('secondary/') ? { ...body, dr_operation_token: operation } : body,
      });
    const status = async (): Promise<Document> => {
      const { body } = await cluster.call('GET', `${base}/status`);
      return body.data;
    };
    /** Expects each operation to be refused and the role to stay. */
    const refuses = async (
      ...triggers: readonly (readonly [string, Document])[]
    ): Promise<void> => {
      const { mode, cluster_id: id } = await status();
      for (const [suffix, body] of triggers) {
        const { status: code } = await post(suffix, body);
        expect([suffix, code]).toEqual([suffix, 400]);
      }
      const after = await status();
      expect([after.mode, after.cluster_id]).toEqual([mode, id]);
    };
    const authorize = async (key: string): Promise<void> => {
      if (kind === 'dr') operation = await operationToken(cluster, key);
    };

    test('disabled: can become a primary, and nothing else', async () => {
      operation = 'hvs.of-no-ceremony';
      await refuses(...OF_A_PRIMARY, ...OF_A_SECONDARY, ['secondary/enable', { token: 'x' }]);
      expect((await post('primary/enable')).status).toBe(200);
      expect(await status()).toMatchObject({ mode: 'primary', state: 'running' });
    });

    test('primary: adds and revokes secondaries, is demoted and promoted with the id of its set', async () => {
      await post('primary/enable');
      const { cluster_id: id } = await status();
      await refuses(...BEGINNINGS, ...OF_A_SECONDARY);

      const issued = await post('primary/secondary-token', { id: 'x' });
      expect(issued).toMatchObject({
        status: 200,
        body: { data: null, wrap_info: { ttl: 1800, wrapped_accessor: '' } },
      });
      expect((await status()).known_secondaries).toEqual(['x']);
      await refuses(['primary/secondary-token', { id: 'x' }]);
      expect((await post('primary/revoke-secondary', { id: 'x' })).status).toBe(204);
      expect((await status()).known_secondaries).toEqual([]);

      expect((await advanceClockUntilSettled(cluster, post('primary/demote'))).status).toBe(200);
      expect(await status()).toMatchObject({
        mode: 'secondary',
        cluster_id: id,
        state: 'idle',
        connection_state: 'shutdown',
        secondary_id: '',
        primaries: [],
      });
      await authorize(ownKey);
      await refuses(...BEGINNINGS, ...OF_A_PRIMARY, [
        'secondary/update-primary',
        { update_primary_addrs: ['nats://a'] },
      ]);

      expect(await post('secondary/promote')).toMatchObject({
        status: 200,
        body: {
          complete: true,
          progress: 0,
          required: 0,
          data: { complete: true },
          warnings: [{}],
        },
      });
      expect(await status()).toMatchObject({ mode: 'primary', cluster_id: id });
      expect((await post('primary/disable')).status).toBe(200);
      expect(await status()).toEqual({ mode: 'disabled' });
      await post('primary/enable');
      expect((await status()).cluster_id).not.toBe(id);
    });

    test('secondary: is cleared when it joins, follows no primary on demand, and leaves with its data', async () => {
      const joined = async (path: string, body: Document) =>
        (await other.asRoot('POST', `${base}/primary/${path}`, { body })).body;
      await other.asRoot('POST', 'sys/policies/acl/theirs', { body: { policy: POLICY } });
      await cluster.call('POST', 'sys/policies/acl/ours', { token, body: { policy: POLICY } });
      await joined('enable', {});
      const made = await post('secondary/generate-public-key');
      const issued = await joined('secondary-token', {
        id: 'x',
        secondary_public_key: made.body.data.secondary_public_key,
      });
      expect((await post('secondary/enable', { token: issued.data.token })).status).toBe(200);
      const { cluster_id: id } = (await other.call('GET', `${base}/status`)).body.data;
      // Waits in real time, because the copied data arrives over the bus without any clock.
      while ((await status())?.mode !== 'secondary')
        await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await status()).toMatchObject({ cluster_id: id, secondary_id: 'x' });

      await authorize(otherKey);
      // The cluster's own tokens are void; those of its primary are valid on a DR secondary only.
      token =
        kind === 'dr' ? otherToken : await ceremonyToken(cluster, 'sys/generate-root', otherKey);
      await refuses(...BEGINNINGS, ...OF_A_PRIMARY);
      expect((await post('secondary/update-primary', { token: '' })).status).toBe(200);
      expect(await status()).toMatchObject({ mode: 'secondary', cluster_id: id, state: 'idle' });
      expect((await post('secondary/disable')).status).toBe(200);
      expect(await status()).toEqual({ mode: 'disabled' });

      token = await ceremonyToken(cluster, 'sys/generate-root', otherKey);
      const policies = (await cluster.call('LIST', 'sys/policies/acl', { token })).body.data.keys;
      expect(policies).toContain('theirs');
      expect(policies).not.toContain('ours');
      await post('primary/enable');
      expect((await status()).cluster_id).not.toBe(id);
    });
  },
);
