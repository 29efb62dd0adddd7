/** Revocation over two clusters that replicate: what one revoked is on the list of both. */
import { type NatsServer, startNats } from '@keelson/testkit';
import {
  attach,
  type Cluster,
  generateRoot,
  startCluster,
  until,
} from '@keelson/testkit/replication-cluster';
import { decodePem, parseCrl, toSerialHex } from '@keelson/x509';
import { afterAll, beforeAll, expect, test } from 'vitest';

const WITHIN_MS = 240_000;

let nats: NatsServer;
let primary: Cluster;
let secondary: Cluster;

beforeAll(async () => {
  nats = await startNats({ jetstream: true });
  [primary, secondary] = await Promise.all([startCluster(nats.url), startCluster(nats.url)]);
}, WITHIN_MS);
afterAll(async () => {
  await primary?.stop();
  await secondary?.stop();
  await nats?.[Symbol.asyncDispose]();
}, WITHIN_MS);

const issue = async (cluster: Cluster): Promise<string> =>
  (await cluster.v1('POST', 'pki/issue/web', { common_name: 'a.example', ttl: '1h' })).body.data
    .serial_number;

const listed = async (cluster: Cluster): Promise<readonly string[]> => {
  const { body } = await cluster.v1('GET', 'pki/cert/unified-crl');
  const [block] = decodePem(body.data.certificate);
  return parseCrl(block?.der ?? new Uint8Array()).entries.map(({ serialNumber }) =>
    toSerialHex(serialNumber),
  );
};

test(
  'what a secondary revokes is on the list of all clusters, and it can ask the primary to revoke',
  async () => {
    await primary.v1('POST', 'sys/mounts/pki', { type: 'pki' });
    await primary.v1('POST', 'pki/root/generate/internal', { common_name: 'Root', key_type: 'ec' });
    await primary.v1('POST', 'pki/roles/web', { allow_any_name: true, key_type: 'ec' });
    const config = { unified_crl: true, cross_cluster_revocation: true };
    await primary.v1('POST', 'pki/config/crl', config);
    await primary.v1('POST', 'sys/replication/performance/primary/enable', {});
    await attach('performance', primary, secondary, 'berlin');
    secondary.token = await generateRoot(secondary, primary.shares);

    const mine = await issue(primary);
    const theirs = await issue(secondary);
    const revoked = await secondary.v1('POST', 'pki/revoke', { serial_number: theirs });
    expect(revoked).toMatchObject({ status: 200, body: { data: { state: 'revoked' } } });
    const told = await until(
      () => primary.v1('LIST', 'pki/certs/unified-revoked'),
      ({ status }) => status === 200,
    );
    const { cluster_id } = (await secondary.v1('GET', 'sys/health?perfstandbyok=true')).body;
    expect(told.body.data).toEqual({
      keys: [theirs],
      key_info: { [theirs]: { revoking_clusters: [cluster_id] } },
    });
    await primary.v1('GET', 'pki/crl/rotate');
    expect(await listed(primary)).toEqual([theirs]);
    await until(
      () => listed(secondary),
      (serials) => serials.includes(theirs),
    );

    const asked = await secondary.v1('POST', 'pki/revoke', { serial_number: mine });
    expect(asked).toMatchObject({ status: 200, body: { data: { state: 'pending' } } });
    const queue = await until(
      () => primary.v1('LIST', 'pki/certs/revocation-queue'),
      ({ status }) => status === 200,
    );
    expect(queue.body.data).toMatchObject({
      keys: [mine],
      key_info: { [mine]: { requesting_cluster: cluster_id } },
    });
  },
  WITHIN_MS,
);
