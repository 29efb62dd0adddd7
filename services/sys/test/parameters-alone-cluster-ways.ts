/** The ways of operations that change a whole cluster: a fresh one for each request. */
import { randomBytes } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '@keelson/testkit';
import { generateKey } from 'openpgp';
import { advanceClockUntilSettled, operationToken } from './cluster-steps.ts';
import { inProcessTransport } from './in-process-transport.ts';
import type { Body, Found, Place, Way } from './parameters-alone-way.ts';
import { type Document, openSysHarness, type SysHarness } from './sys-harness.ts';

const { publicKey } = await generateKey({ userIDs: [{ name: 'holder' }], format: 'binary' });
const PGP_KEY = Buffer.from(publicKey).toString('base64');
const OTHER_SHARE = '07'.repeat(32);

interface Opened extends Place {
  readonly key: string;
}
const keys = new WeakMap<SysHarness, string>();
const statics = new WeakSet<SysHarness>();
const isStatic = ({ cluster }: Place): boolean => statics.has(cluster);
const keyOf = ({ cluster }: Place): string => keys.get(cluster) ?? '';

export const openShamir = async (): Promise<Opened> => {
  const cluster = await openSysHarness({ transport: inProcessTransport() });
  const { rootToken: token, key } = await cluster.initialize();
  keys.set(cluster, key);
  return { cluster, token, key, close: () => cluster.close() };
};

/** A cluster that a key file opens. */
const openStatic = async (): Promise<Opened> => {
  const folder = await temporaryDirectory();
  const unsealKeyFile = join(folder.path, 'unseal.key');
  await writeFile(unsealKeyFile, randomBytes(32).toString('base64'));
  await chmod(unsealKeyFile, 0o600);
  const cluster = await openSysHarness({ config: { unsealKeyFile } });
  statics.add(cluster);
  const { rootToken: token, key } = await cluster.initialize();
  keys.set(cluster, key);
  const close = async (): Promise<void> => {
    await cluster.close();
    await folder[Symbol.asyncDispose]();
  };
  return { cluster, token, key, close };
};

const openFor = (route: string): Promise<Place> =>
  route.includes('recovery') ? openStatic() : openShamir();

const post = async (
  { cluster, token }: Place,
  path: string,
  body: Body = {},
): Promise<Document> => {
  const answer = await cluster.call('POST', path, { token, body });
  if (answer.status >= 300) throw new Error(`${path}: ${answer.body.errors}`);
  return answer.body?.data ?? answer.body;
};
const read = async ({ cluster, token }: Place, path: string): Promise<Document> => {
  const { body } = await cluster.call('GET', path, { token });
  return body?.data ?? body;
};

/** Base of the addresses of a ceremony. */
const baseOf = (path: string): string => path.split('/').slice(0, -1).join('/');

const kindOf = (route: string): 'dr' | 'performance' =>
  route.includes('/dr/') ? 'dr' : 'performance';

const roleOf: Way['observe'] = async ({ cluster }, path) => {
  const { body } = await cluster.call('GET', `sys/replication/${kindOf(path)}/status`);
  const { mode, primary_cluster_addr: address, known_secondaries: secondaries } = body.data;
  return { mode, address, secondaries };
};

const openPrimary = async (route: string): Promise<Place> => {
  const place = await openShamir();
  await post(place, `sys/replication/${kindOf(route)}/primary/enable`);
  return place;
};

/** A primary with the secondary `two`, which has not come yet. */
const openWithSecondary = async (route: string): Promise<Place> => {
  const place = await openPrimary(route);
  await post(place, `sys/replication/${kindOf(route)}/primary/secondary-token`, { id: 'two' });
  return place;
};

/** A secondary without a primary. */
const openSecondary = async (route: string): Promise<Place> => {
  const place = await openPrimary(route);
  const demoted = post(place, `sys/replication/${kindOf(route)}/primary/demote`);
  await advanceClockUntilSettled(place.cluster, demoted);
  return place;
};
const openDrSecondary = (): Promise<Place> => openSecondary('/dr/');

const authorized = async (place: Place): Promise<Readonly<Record<string, string>>> => {
  const { body } = await place.cluster.call('GET', 'sys/replication/dr/status');
  return body.data.mode === 'secondary'
    ? { operation: await operationToken(place.cluster, keyOf(place)) }
    : {};
};
const withAuthority = ({ operation }: Found): Body =>
  operation === undefined ? {} : { dr_operation_token: operation };

const STATE = 'every replica is active, so that this state does not occur';

const REKEY = { secret_shares: 1, secret_threshold: 1 };
/** An attempt to rekey, with the new shares made if they are to be verified. */
const startRekey = async (place: Place, path: string, toVerify: boolean) => {
  const base = baseOf(path);
  const started = await post(place, `${base}/init`, { ...REKEY, require_verification: toVerify });
  if (!toVerify) return { nonce: started.nonce, share: keyOf(place) };
  const share = { key: keyOf(place), nonce: started.nonce };
  const made = await post(place, `${base}/update`, share);
  return { nonce: made.verification_nonce, share: made.keys[0] };
};

export const CLUSTER_WAYS: readonly Way[] = [
  {
    route: /^POST \/sys\/init$/,
    open: async () => {
      const cluster = await openSysHarness();
      return { cluster, token: '', close: () => cluster.close() };
    },
    least: () => REKEY,
    values: () => ({
      secret_shares: 2,
      secret_threshold: 2,
      pgp_keys: [PGP_KEY],
      root_token_pgp_key: PGP_KEY,
      stored_shares: 2,
      recovery_shares: 1,
      recovery_threshold: 1,
      recovery_pgp_keys: [PGP_KEY],
    }),
    observe: async (_, __, { keys: made = [], root_token: root = '', errors }) => ({
      errors,
      shares: made.map(({ length }: string) => length),
      root: root.length,
    }),
  },
  {
    route: /^POST \/sys\/unseal$/,
    open: openShamir,
    prepare: async (place) => {
      await post(place, 'sys/seal');
      return { share: keyOf(place) };
    },
    values: ({ share }) => ({ key: share, reset: true, migrate: true }),
  },
  {
    route: /^(?:GET|HEAD) \/sys\/health$/,
    open: openDrSecondary,
    values: () => ({ drsecondarycode: 299 }),
    without: {
      uninitcode: 'tried in src/seal/domain/health.test.ts, as it needs another state',
      sealedcode: 'tried in src/seal/domain/health.test.ts, as it needs another state',
      activecode: 'tried in src/seal/domain/health.test.ts, as it needs another state',
      incompletecode: 'the gateway knows the services: tried in src/seal/seal.integration.test.ts',
      performancestandbycode: STATE,
      standbycode: STATE,
      haunhealthycode: STATE,
      removedcode: STATE,
      standbyok: STATE,
      perfstandbyok: STATE,
    },
  },
  {
    route: /^POST \/sys\/generate-root(?:-token)?\/attempt$/,
    open: openShamir,
    values: () => ({ otp: 'p'.repeat(28), pgp_key: PGP_KEY }),
    observe: async (_, __, answer) => {
      const { otp, pgp_fingerprint: fingerprint } = answer.data ?? answer;
      return { password: otp === '', fingerprint };
    },
  },
  {
    route: /^POST \/sys\/generate-root(?:-token)?\/update$/,
    open: openShamir,
    prepare: async (place) => {
      const { nonce } = await post(place, 'sys/generate-root/attempt');
      return { nonce, share: keyOf(place) };
    },
    least: ({ share, nonce }) => ({ key: share, nonce }),
    values: () => ({ key: OTHER_SHARE, nonce: 'another' }),
  },
  {
    route: /^DELETE \/sys\/generate-root(?:-token)?\/attempt$/,
    open: openShamir,
    prepare: async (place) => {
      const { nonce } = await post(place, 'sys/generate-root/attempt');
      return { nonce, share: keyOf(place) };
    },
    least: ({ share, nonce }) => ({ key: share, nonce }),
    values: () => ({ key: OTHER_SHARE, nonce: 'another' }),
  },
  {
    route: /^POST \/sys\/decode-token$/,
    open: openShamir,
    least: () => ({ encoded_token: 'YWFhYQ==', otp: 'bbbb' }),
    values: () => ({ encoded_token: 'YmJiYg==', otp: 'cccc' }),
    observe: async (_, __, { data }) => ({ decoded: data?.token }),
  },
  {
    route: /^POST \/sys\/(?:rekey|rekey-recovery-key|rotate\/root|rotate\/recovery)\/init$/,
    open: openFor,
    least: () => REKEY,
    values: () => ({
      secret_shares: 2,
      secret_threshold: 2,
      pgp_keys: [PGP_KEY],
      backup: { telling: true, beside: { pgp_keys: [PGP_KEY] } },
      require_verification: true,
    }),
  },
  {
    route: /^POST \/sys\/(?:rekey|rekey-recovery-key|rotate\/root|rotate\/recovery)\/update$/,
    open: openFor,
    prepare: (place) =>
      startRekey(place, isStatic(place) ? 'sys/rekey-recovery-key/x' : 'sys/rekey/x', false),
    least: ({ share, nonce }) => ({ key: share, nonce }),
    values: () => ({ key: OTHER_SHARE, nonce: 'another' }),
  },
  {
    route:
      /^(?:POST|DELETE) \/sys\/(?:rekey|rekey-recovery-key|rotate\/root|rotate\/recovery)\/verify$/,
    open: openFor,
    prepare: (place) =>
      startRekey(place, isStatic(place) ? 'sys/rekey-recovery-key/x' : 'sys/rekey/x', true),
    least: ({ share, nonce }) => ({ key: share, nonce }),
    values: () => ({ key: OTHER_SHARE, nonce: 'another' }),
  },
  {
    route: /^DELETE \/sys\/(?:rekey|rekey-recovery-key|rotate\/root|rotate\/recovery)\/init$/,
    open: openFor,
    prepare: (place) =>
      startRekey(place, isStatic(place) ? 'sys/rekey-recovery-key/x' : 'sys/rekey/x', false),
    least: ({ share, nonce }) => ({ key: share, nonce }),
    values: () => ({ key: OTHER_SHARE, nonce: 'another' }),
  },
  {
    route: /^POST \/sys\/replication\/dr\/secondary\/generate-operation-token\/attempt$/,
    open: openDrSecondary,
    values: () => ({ otp: 'p'.repeat(28), pgp_key: PGP_KEY }),
    observe: async (_, __, { otp, pgp_fingerprint: fingerprint }) => ({
      password: otp === '',
      fingerprint,
    }),
  },
  {
    route: /\/generate-operation-token\//,
    open: openDrSecondary,
    prepare: async (place) => {
      const base = 'sys/replication/dr/secondary/generate-operation-token';
      const { nonce } = await post(place, `${base}/attempt`);
      return { nonce, share: keyOf(place) };
    },
    least: ({ share, nonce }) => ({ key: share, nonce }),
    values: () => ({ key: OTHER_SHARE, nonce: 'another' }),
  },
  {
    route: /^POST \/sys\/replication\/.*primary\/enable$/,
    open: openShamir,
    values: () => ({ primary_cluster_addr: 'nats://elsewhere:4222' }),
    observe: roleOf,
  },
  {
    route: /^POST \/sys\/replication\/.*primary\/secondary-token$/,
    open: openPrimary,
    least: () => ({ id: 'two' }),
    values: () => ({ id: 'three', ttl: '1h', secondary_public_key: 'no key' }),
    observe: async (place, path, answer) => ({
      ...(await roleOf(place, path, answer, { serial: '' })),
      ttl: answer.wrap_info?.ttl,
    }),
  },
  {
    route: /^POST \/sys\/replication\/.*primary\/revoke-secondary$/,
    open: openWithSecondary,
    least: () => ({ id: 'two' }),
    values: () => ({ id: 'three' }),
    observe: roleOf,
  },
  {
    route: /^POST \/sys\/replication\/.*secondary\/enable$/,
    open: openShamir,
    least: () => ({ token: 'no token' }),
    values: () => ({
      token: { telling: 'no token', beside: { token: undefined } },
      primary_api_addr: 'no address',
      ca_file: '/nothing/here.pem',
      ca_path: '/nothing/here',
    }),
  },
  {
    route: /^POST \/sys\/replication\/.*secondary\/promote$/,
    open: openSecondary,
    prepare: authorized,
    least: withAuthority,
    values: (found) => ({
      dr_operation_token: 'hvs.another',
      primary_cluster_addr: {
        telling: 'nats://elsewhere:4222',
        beside: { ...withAuthority(found), force: true },
      },
      dry_run: true,
    }),
    observe: roleOf,
    without: {
      force:
        'acts while the primary is silent: src/replication/forced-promotion.integration.test.ts',
    },
  },
  {
    route: /^POST \/sys\/replication\/.*secondary\/(?:disable|update-primary)$/,
    open: openSecondary,
    prepare: authorized,
    least: (found) => ({ ...withAuthority(found), token: '' }),
    values: (found) => ({
      dr_operation_token: 'hvs.another',
      token: 'no token',
      update_primary_addrs: {
        telling: ['nats://u:p@elsewhere:4222'],
        beside: { ...withAuthority(found), token: undefined },
      },
      primary_api_addr: 'no address',
      ca_file: '/nothing/here.pem',
      ca_path: '/nothing/here',
    }),
    observe: roleOf,
  },
  {
    route: /^POST \/sys\/replication\/(?:dr\/secondary\/)?reindex$/,
    open: openDrSecondary,
    prepare: authorized,
    values: () => ({ dr_operation_token: 'hvs.another' }),
    without: {
      diff: 'the work goes on in the background: services/standalone/test/dr-operation tries it',
      force: 'the work goes on in the background: services/standalone/test/dr-operation tries it',
      skip_flush: 'only decides when the tree is saved: libs/storage/src/merkle tries it',
    },
  },
  {
    route:
      /^POST \/sys\/replication\/dr\/secondary\/(?:operation-token\/delete|recover|merkle-check)$/,
    open: openDrSecondary,
    prepare: authorized,
    least: withAuthority,
    values: () => ({ dr_operation_token: 'hvs.another' }),
  },
  {
    route: /^POST \/sys\/replication\/.*(?:paths|mount)-filter\/\{id\}$/,
    open: openWithSecondary,
    at: (path) => path.replace('{id}', 'two'),
    least: () => ({ mode: 'allow', paths: ['a/'] }),
    values: () => ({ mode: 'deny', paths: ['b/'] }),
    observe: read,
  },
];
