/** Paths filters between standalone processes: the data that a branch gets, before it exists and later. */
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

const WITHIN_MS = 180_000;
const PERFORMANCE = 'sys/replication/performance';
const FILTER = `${PERFORMANCE}/primary/paths-filter`;
const POLICY = 'path "a/*" { capabilities = ["read"] }';

let nats: NatsServer;
let primary: Cluster;
let branch: Cluster;
let spare: Cluster;

beforeAll(async () => {
  nats = await startNats({ jetstream: true });
  [primary, branch] = await Promise.all([startCluster(nats.url), startCluster(nats.url)]);
  spare = await startCluster(nats.url);
}, WITHIN_MS);
afterAll(async () => {
  for (const cluster of [primary, branch, spare]) await cluster.stop();
  await nats[Symbol.asyncDispose]();
}, WITHIN_MS);

/** At "<namespace>/<path>", or at a path of the root. */
const mountPki = async (path: string): Promise<void> => {
  const at = path.replace(/^((?:.*\/)?)/, '$1sys/mounts/');
  expect((await primary.v1('POST', at, { type: 'pki' })).status).toBe(204);
  await primary.v1('POST', `${path}/root/generate/internal`, { common_name: path, key_type: 'ec' });
  await primary.v1('POST', `${path}/roles/web`, { allow_any_name: true, key_type: 'ec' });
};

/** The id of the secondary that is to be enabled. */
let token = '';

const issueToken = async (id: string): Promise<string> => {
  const issued = await primary.v1('POST', `${PERFORMANCE}/primary/secondary-token`, { id });
  return issued.body.wrap_info.token;
};

const setFilter = (mode: string, paths: readonly string[], id = 'branch') =>
  primary.v1('POST', `${FILTER}/${id}`, { mode, paths });

const mountsOf = async (cluster: Cluster): Promise<string[]> =>
  Object.keys((await cluster.v1('GET', 'sys/mounts')).body.data);

const issues = async (cluster: Cluster, mount: string): Promise<number> =>
  (await cluster.v1('POST', `${mount}/issue/web`, { common_name: 'a.example.com', ttl: '1h' }))
    .status;

/** Resolves when the branch holds exactly the data that the primary reports to send it. */
const untilFilteredEqual = (leader = primary) =>
  until(
    async () => {
      const ours = (await leader.status('performance'))?.secondaries?.find(
        (one: { readonly node_id: string }) => one.node_id === 'branch',
      );
      return [ours?.filtered, ours?.merkle_root, (await branch.status('performance'))?.merkle_root];
    },
    ([isFiltered, ours, theirs]) => isFiltered === true && ours !== '' && ours === theirs,
  );

const dynamicFilters = async () => {
  const [onPrimary, onSecondary] = [
    await primary.v1('GET', `${PERFORMANCE}/primary/dynamic-filter/branch`),
    await branch.v1('GET', `${PERFORMANCE}/secondary/dynamic-filter/branch`),
  ];
  expect(onSecondary.body.data).toEqual(onPrimary.body.data);
  return onPrimary.body.data;
};

describe('paths filters', { timeout: WITHIN_MS }, () => {
  test('can be set before the secondary is enabled, and are refused where they have no effect', async () => {
    await mountPki('a');
    await mountPki('b');
    await primary.v1('POST', 'sys/namespaces/team');
    await mountPki('team/c');
    await primary.v1('POST', 'team/sys/policies/acl/inside', { policy: POLICY });
    expect(await setFilter('deny', ['b'])).toMatchObject({
      status: 400,
      body: { errors: ['this cluster is not a performance replication primary'] },
    });
    await primary.v1('POST', `${PERFORMANCE}/primary/enable`);
    const unknown = {
      status: 400,
      body: { errors: [expect.stringMatching(/^"branch" is not the id of a secondary/)] },
    };
    expect(await setFilter('deny', ['b'])).toMatchObject(unknown);
    expect(await primary.v1('GET', `${FILTER}/branch`)).toMatchObject(unknown);
    expect(await primary.v1('DELETE', `${FILTER}/branch`)).toMatchObject(unknown);
    const onPrimary = await primary.v1('GET', `${PERFORMANCE}/primary/dynamic-filter/branch`);
    expect(onPrimary).toMatchObject(unknown);
    // The filter must exist before anything crosses: the token names the secondary.
    token = await issueToken('branch');
    for (const bad of [{ mode: 'some' }, { paths: ['a/../b'] }, { paths: ['/'] }])
      expect((await primary.v1('POST', `${FILTER}/branch`, bad)).status).toBe(400);
    expect((await primary.v1('GET', `${FILTER}/branch`)).status).toBe(404);
    expect((await setFilter('deny', ['b', 'team/'])).status).toBe(204);
    expect((await primary.v1('GET', `${FILTER}/branch`)).body).toMatchObject({
      data: { mode: 'deny', paths: ['b/', 'team/'] },
      mode: 'deny',
      paths: ['b/', 'team/'],
    });
    expect((await primary.v1('GET', `${PERFORMANCE}/primary/dynamic-filter/branch`)).body).toEqual(
      expect.objectContaining({
        data: {
          dynamic_filtered_mounts: ['b/', 'team/c/'],
          dynamic_filtered_namespaces: ['team/'],
        },
      }),
    );
    expect((await primary.v1('GET', `${PERFORMANCE}/secondary/dynamic-filter/branch`)).status).toBe(
      400,
    );
    await issueToken('other');
    expect((await setFilter('deny', ['none/'], 'other')).body.warnings).toEqual([
      'there is no mount or namespace at none/; the filter will apply to what is created there',
    ]);
    // The id of the set names no single secondary while there are two.
    const { cluster_id: set } = await primary.status('performance');
    expect(await setFilter('deny', ['b'], set)).toMatchObject({
      status: 400,
      body: { errors: [expect.stringContaining('the id of the replication set')] },
    });
    expect((await primary.v1('DELETE', `${FILTER}/other`)).status).toBe(204);
    await primary.v1('POST', `${PERFORMANCE}/primary/revoke-secondary`, { id: 'other' });
  });

  test('withhold mounts and namespaces from the branch from its first copy on', async () => {
    const enabled = await branch.v1('POST', `${PERFORMANCE}/secondary/enable`, { token });
    expect(enabled.status).toBe(200);
    await untilStreaming('performance', branch);
    branch.token = await generateRoot(branch, primary.shares);
    await untilFilteredEqual();
    expect(await mountsOf(branch)).toEqual(expect.arrayContaining(['a/']));
    expect(await mountsOf(branch)).not.toContain('b/');
    expect((await branch.v1('LIST', 'sys/namespaces')).status).toBe(404);
    expect(await issues(branch, 'a')).toBe(200);
    // As at any path where nothing is: nobody asks the primary.
    const unknown = await branch.v1('POST', 'nothing/roles/x', {});
    for (const path of ['b/roles/x', 'b/issue/web'])
      expect((await branch.v1('POST', path, {})).status).toBe(unknown.status);
    expect((await branch.v1('GET', 'b/roles/web')).status).toBe(404);
    expect((await branch.v1('GET', 'team/sys/policies/acl/inside')).status).toBe(404);
    expect(await dynamicFilters()).toEqual({
      dynamic_filtered_mounts: ['b/', 'team/c/'],
      dynamic_filtered_namespaces: ['team/'],
    });
    // Policies of the root namespace reach every cluster, and mounts created later are not denied.
    expect((await branch.v1('POST', 'sys/policies/acl/both', { policy: POLICY })).status).toBe(204);
    await mountPki('later');
    await mountPki('team/later');
    await untilFilteredEqual();
    expect(await issues(branch, 'later')).toBe(200);
    expect(await dynamicFilters()).toMatchObject({
      dynamic_filtered_mounts: ['b/', 'team/c/', 'team/later/'],
    });
  });

  test('accept the id of the branch’s cluster, too, and the cluster_id of its status', async () => {
    const { cluster_id: own } = (await branch.v1('GET', 'sys/health', undefined, '')).body;
    const { cluster_id: set } = await branch.status('performance');
    for (const id of [own, set]) {
      expect((await primary.v1('GET', `${FILTER}/${id}`)).body.data.paths).toEqual(['b/', 'team/']);
      expect((await branch.v1('GET', `${PERFORMANCE}/secondary/dynamic-filter/${id}`)).status).toBe(
        200,
      );
    }
    expect((await setFilter('deny', ['b', 'team', 'a'], set)).status).toBe(204);
    await until(
      () => branch.v1('GET', 'a/ca/pem'),
      ({ status }) => status === 404,
    );
    expect((await setFilter('deny', ['b', 'team'], set)).status).toBe(204);
    await until(
      () => issues(branch, 'a'),
      (status) => status === 200,
    );
    expect((await branch.v1('GET', `${PERFORMANCE}/secondary/dynamic-filter/another`)).status).toBe(
      400,
    );
    expect((await branch.v1('POST', `${FILTER}/branch`, { mode: 'deny' })).status).toBe(400);
  });

  test('change while both sides are used', async () => {
    let isWriting = true;
    let written = 0;
    const writing = (async () => {
      for (; isWriting; written += 1)
        for (const mount of ['a', 'b', 'team/c'])
          await primary.v1('POST', `${mount}/roles/r${written % 20}`, { ttl: `${written}s` });
    })();
    await primary.v1('POST', 'a/roles/leased', { allow_any_name: true, generate_lease: true });
    const issued = await until(
      () => branch.v1('POST', 'a/issue/leased', { common_name: 'a.example.com', ttl: '1h' }),
      ({ status }) => status === 200,
    );
    expect((await setFilter('allow', ['b'])).status).toBe(204);
    await until(
      () => mountsOf(branch),
      (mounts) => mounts.includes('b/') && !mounts.includes('a/') && !mounts.includes('later/'),
    );
    // The leases of the mount are revoked together with it.
    const lease = await until(
      () => branch.v1('POST', 'sys/leases/lookup', { lease_id: issued.body.lease_id }),
      ({ status }) => status === 400,
    );
    expect(lease.body.errors).toEqual(['invalid lease']);
    isWriting = false;
    await writing;
    await untilFilteredEqual();
    expect(await issues(branch, 'b')).toBe(200);
    expect((await branch.v1('POST', 'a/issue/web', {})).status).toBe(404);
    // The workspaces are the mount api/v2/, which is not allowed either.
    const organizations = () => branch.api('GET', 'organizations', undefined, primary.apiToken);
    expect((await organizations()).status).toBe(401);
    await mountPki('not-allowed');
    await untilFilteredEqual();
    expect(await mountsOf(branch)).not.toContain('not-allowed/');

    expect((await setFilter('allow', ['b', 'team', 'api/v2'])).status).toBe(204);
    await untilFilteredEqual();
    await until(organizations, ({ status }) => status === 200);
    expect(await issues(branch, 'team/c')).toBe(200);
    expect(await dynamicFilters()).toEqual({
      dynamic_filtered_mounts: ['a/', 'later/', 'not-allowed/'],
      dynamic_filtered_namespaces: [],
    });
  });

  test('follow a mount that is moved', async () => {
    await primary.v1('POST', 'sys/remount', { from: 'b', to: 'moved' });
    await until(
      () => mountsOf(branch),
      (mounts) => mounts.includes('moved/') && !mounts.includes('b/'),
    );
    await untilFilteredEqual();
    expect(await issues(branch, 'moved')).toBe(200);
    // Into a namespace that is allowed, and out of it.
    await primary.v1('POST', 'sys/remount', { from: 'a', to: 'team/a' });
    await until(
      () => issues(branch, 'team/a'),
      (status) => status === 200,
    );
    await primary.v1('POST', 'sys/remount', { from: 'team/a', to: 'a' });
    await until(
      () => issues(branch, 'team/a'),
      (status) => status === 404,
    );
    await untilFilteredEqual();
  });

  test('outlive restarts of both sides, and an outage of NATS', async () => {
    await branch.restart();
    await primary.restart();
    await primary.v1('POST', 'moved/roles/after', { ttl: '1h' });
    await primary.v1('POST', 'a/roles/after', { ttl: '1h' });
    await until(
      () => branch.v1('GET', 'moved/roles/after'),
      ({ status }) => status === 200,
    );
    await untilFilteredEqual();
    await nats.process.kill();
    await primary.v1('POST', 'moved/roles/offline', { ttl: '1h' });
    expect((await setFilter('deny', ['a'])).status).toBe(204);
    await nats.process.start();
    await until(
      () => branch.v1('GET', 'moved/roles/offline'),
      ({ status }) => status === 200,
    );
    await untilFilteredEqual();
    expect(await mountsOf(branch)).toEqual(expect.arrayContaining(['moved/', 'later/']));
    expect(await mountsOf(branch)).not.toContain('a/');
    expect(
      (await branch.v1('POST', 'sys/replication/merkle-check')).body.data.merkle_corruption_report
        .corrupted_root,
    ).toBe(false);
  });

  test('prevent a promotion, which would lose what is withheld', async () => {
    const promote = (body: object) => branch.v1('POST', `${PERFORMANCE}/secondary/promote`, body);
    expect((await promote({ dry_run: true })).body.data).toMatchObject({
      dynamic_filtered_mounts: ['a/'],
      dynamic_filtered_namespaces: [],
    });
    const refused = await until(
      () => promote({}),
      ({ status }) => status !== 503,
    );
    expect(refused).toMatchObject({
      status: 400,
      body: { errors: [expect.stringContaining('a paths filter withholds mounts or namespaces')] },
    });
    await untilStreaming('performance', branch);
  });

  test('are removed, and everything is replicated, behind a local mount that took its path', async () => {
    expect(await branch.v1('POST', 'sys/mounts/a', { type: 'pki', local: true })).toMatchObject({
      status: 200,
      body: { warnings: [expect.stringContaining('the primary has a mount at a/')] },
    });
    expect((await primary.v1('DELETE', `${FILTER}/branch`)).status).toBe(204);
    await untilEqual('performance', primary, branch);
    expect((await branch.v1('GET', 'sys/mounts')).body.warnings).toHaveLength(1);
    expect((await branch.v1('GET', 'a/roles/web')).status).toBe(404);
    expect((await branch.v1('DELETE', 'sys/mounts/a')).status).toBe(204);
    await until(
      () => branch.v1('GET', 'a/roles/web'),
      ({ status }) => status === 200,
    );
    // Certificates that the branch had issued before the filter were removed with the mount.
    expect((await branch.v1('LIST', 'a/certs')).status).toBe(404);
    expect(await issues(branch, 'a')).toBe(200);
    expect((await primary.v1('GET', `${FILTER}/branch`)).status).toBe(404);
    expect((await branch.v1('GET', `${PERFORMANCE}/secondary/dynamic-filter/branch`)).status).toBe(
      404,
    );
    expect((await branch.v1('POST', 'sys/policies/acl/after', { policy: POLICY })).status).toBe(
      204,
    );
  });

  test('stay in force on a DR secondary that replaces the primary', async () => {
    expect((await setFilter('deny', ['a'])).status).toBe(204);
    await untilFilteredEqual();
    await primary.v1('POST', 'sys/replication/dr/primary/enable');
    await attach('dr', primary, spare, 'spare');
    await untilEqual('dr', primary, spare);
    await primary.process().stop('SIGKILL');
    const token = await generateOperationToken(spare, primary.shares);
    const promote = (how: object) =>
      spare.v1('POST', 'sys/replication/dr/secondary/promote', {
        dr_operation_token: token,
        ...how,
      });
    await until(
      () => promote({ dry_run: true }),
      ({ body }) =>
        body.data?.missing_entries === 0 &&
        body.data.services.every(({ state }: { state: string }) => state === 'stream-wals'),
    );
    expect((await promote({ force: true })).status).toBe(200);
    spare.token = primary.token;
    const read = await until(
      () => spare.v1('GET', `${FILTER}/branch`),
      ({ status }) => status !== 503,
    );
    expect(read.body.data).toEqual({ mode: 'deny', paths: ['a/'] });
    for (const mount of ['a', 'moved'])
      expect((await spare.v1('POST', `${mount}/roles/heir`, { ttl: '1h' })).status).toBe(200);
    await until(
      () => branch.v1('GET', 'moved/roles/heir'),
      ({ status }) => status === 200,
    );
    await untilFilteredEqual(spare);
    expect(await mountsOf(branch)).not.toContain('a/');
  });

  test('end with their secondary', async () => {
    await spare.v1('POST', `${PERFORMANCE}/primary/revoke-secondary`, { id: 'branch' });
    expect((await spare.v1('GET', `${FILTER}/branch`)).status).toBe(400);
    // The branch has no primary any longer, and may continue alone with its data.
    const promoted = await until(
      () => branch.v1('POST', `${PERFORMANCE}/secondary/promote`, { force: true }),
      ({ status }) => status !== 503,
    );
    expect(promoted.status).toBe(200);
    await until(
      () => branch.status('performance'),
      (status) => status?.mode === 'primary',
    );
    expect((await branch.v1('POST', 'sys/mounts/a', { type: 'pki' })).status).toBe(204);
    expect((await branch.v1('POST', 'moved/roles/own', { ttl: '1h' })).status).toBe(200);
  });
});
