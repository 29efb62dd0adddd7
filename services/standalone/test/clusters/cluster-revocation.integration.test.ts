/** Revocation over two clusters that replicate: a certificate revoked on one is on the CRL of both. */
import { execFileSync } from 'node:child_process';
import { type NatsServer, startNats } from '@keelson/testkit';
import {
  attach,
  type Cluster,
  follow,
  generateRoot,
  startCluster,
  until,
} from '@keelson/testkit/replication-cluster';
import { decodePem, parseCrl, toSerialHex } from '@keelson/x509';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const WITHIN_MS = 240_000;
const PERFORMANCE = 'sys/replication/performance';

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

/** Nothing while the cluster refuses requests after a start. */
const listed = async (cluster: Cluster): Promise<readonly string[]> => {
  const { status, body } = await cluster.v1('GET', 'pki/cert/unified-crl');
  if (status !== 200) return [];
  const [block] = decodePem(body.data.certificate);
  return parseCrl(block?.der ?? new Uint8Array()).entries.map(({ serialNumber }) =>
    toSerialHex(serialNumber),
  );
};

/** On the list of all clusters, as each of them answers it. */
const untilListed = async (...serials: readonly string[]): Promise<void> => {
  for (const cluster of [primary, secondary])
    await until(
      () => listed(cluster),
      (found) => serials.every((serial) => found.includes(serial)),
    );
};

const revoke = (cluster: Cluster, serial: string) =>
  cluster.v1('POST', 'pki/revoke', { serial_number: serial });

describe('over two clusters', { timeout: WITHIN_MS }, () => {
  let mine: string;
  let theirs: string;
  let secondaryId: string;

  test('what a secondary revokes is on the CRLs of both without a request', async () => {
    await primary.v1('POST', 'sys/mounts/pki', { type: 'pki' });
    await primary.v1('POST', 'pki/root/generate/internal', { common_name: 'Root', key_type: 'ec' });
    await primary.v1('POST', 'pki/roles/web', { allow_any_name: true, key_type: 'ec' });
    const config = { unified_crl: true, cross_cluster_revocation: true };
    await primary.v1('POST', 'pki/config/crl', config);
    await primary.v1('POST', `${PERFORMANCE}/primary/enable`, {});
    await attach('performance', primary, secondary, 'berlin');
    secondary.token = await generateRoot(secondary, primary.shares);
    secondaryId = (await secondary.v1('GET', 'sys/health?perfstandbyok=true')).body.cluster_id;

    mine = await issue(primary);
    theirs = await issue(secondary);
    expect(await revoke(secondary, theirs)).toMatchObject({
      status: 200,
      body: { data: { state: 'revoked' } },
    });
    const told = await until(
      () => primary.v1('LIST', 'pki/certs/unified-revoked'),
      ({ status }) => status === 200,
    );
    expect(told.body.data).toEqual({
      keys: [theirs],
      key_info: { [theirs]: { revoking_clusters: [secondaryId] } },
    });
    await untilListed(theirs);
  });

  test('a requested revocation is made by the issuing cluster, which confirms it', async () => {
    expect(await revoke(secondary, mine)).toMatchObject({
      status: 200,
      body: { data: { state: 'pending' } },
    });
    for (const cluster of [primary, secondary]) {
      const queue = await until(
        () => cluster.v1('LIST', 'pki/certs/revocation-queue'),
        ({ status, body }) => status === 200 && body.data.key_info[mine]?.confirmed === true,
      );
      expect(queue.body.data).toMatchObject({
        keys: [mine],
        key_info: { [mine]: { requesting_cluster: secondaryId } },
      });
    }
    expect((await primary.v1('GET', `pki/cert/${mine}`)).body.data.revocation_time).toBeGreaterThan(
      0,
    );
    await untilListed(theirs, mine);
  });

  test('a key that one of them bans is banned in both, and so is the end of the ban', async () => {
    const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    const request = ['req', '-new', ...newKey, '-keyout', '/dev/null', '-subj', '/CN=a.example'];
    const csr = execFileSync('openssl', request, { encoding: 'utf8', stdio: 'pipe' });
    const sign = (cluster: Cluster) => cluster.v1('POST', 'pki/sign-verbatim', { csr, ttl: '1h' });
    const untilAnswered = (cluster: Cluster, status: number) =>
      until(
        () => sign(cluster),
        (answer) => answer.status === status,
      );
    const { serial_number: serial } = (await sign(secondary)).body.data;
    const revocation = { serial_number: serial, reason: 'keyCompromise' };
    expect((await secondary.v1('POST', 'pki/revoke', revocation)).status).toBe(200);
    expect((await sign(secondary)).status).toBe(400);
    expect((await untilAnswered(primary, 400)).body.errors).toEqual([
      expect.stringContaining('it is compromised'),
    ]);
    const { keys } = (await primary.v1('LIST', 'pki/keys/compromised')).body.data;
    expect(keys).toHaveLength(1);
    expect((await primary.v1('DELETE', `pki/keys/compromised/${keys[0]}`)).status).toBe(204);
    expect((await sign(primary)).status).toBe(200);
    await untilAnswered(secondary, 200);
  });

  test('a revocation immediately after both were started is announced, too', async () => {
    const serial = await issue(secondary);
    await Promise.all([primary.restart('SIGKILL'), secondary.restart('SIGKILL')]);
    const revoked = await until(
      () => revoke(secondary, serial),
      ({ status }) => status === 200,
    );
    expect(revoked.body.data.state).toBe('revoked');
    await untilListed(theirs, mine, serial);
  });

  test('a revocation immediately after a role change is announced, too', async () => {
    const before = await issue(primary);
    expect((await primary.v1('POST', `${PERFORMANCE}/primary/demote`)).status).toBe(200);
    // There is no other cluster to replicate to yet.
    expect((await revoke(primary, before)).status).toBe(200);
    const promoted = await until(
      () => secondary.v1('POST', `${PERFORMANCE}/secondary/promote`),
      ({ status }) => status !== 503,
    );
    expect(promoted.status).toBe(200);
    await follow('performance', secondary, primary, 'former');
    await untilListed(theirs, mine, before);
  });
});
