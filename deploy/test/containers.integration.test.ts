/**
 * The containers: the standalone image in a test suite of its user (@keelson/testcontainers) and restricted
 * as in a pod; the distributed installation of docker-compose.yml with two replicas of sys, pki and
 * workspace; the clusters of its profile `replication` with their story; and the policy service.
 */
import { execFile } from 'node:child_process';
import { randomBytes, X509Certificate } from 'node:crypto';
import { chmod, chown, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { documentedCommands, type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { isMap, parseAllDocuments } from 'yaml';
import { buildImages, REPOSITORY, type TestImages } from './images.ts';
import { runExample, runReadmeBlock } from './outside-projects.ts';

const run = promisify(execFile);
/** User and group of every container (deploy/images/Dockerfile). */
const CONTAINER_USER = 65_532;
const BUILD_LIMIT_MS = 300_000;
/** Fourteen containers at once on a busy machine. */
const STORY_LIMIT_MS = 400_000;
let images: TestImages;

beforeAll(async () => {
  images = await buildImages();
}, BUILD_LIMIT_MS);
afterAll(() => images?.[Symbol.asyncDispose]());

interface Answer {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- documents of many shapes, asserted by the tests
  readonly body: any;
}

const call = async (
  url: string,
  init: { method?: string; headers?: Record<string, string>; body?: unknown } = {},
): Promise<Answer> => {
  const response = await fetch(url, {
    method: init.method ?? (init.body === undefined ? 'GET' : 'POST'),
    headers: { ...init.headers },
    ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
};

/** The parts of a manifest's container that are checked here. */
interface PodContainer {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
}

describe('the standalone image', () => {
  test('runs in the test suite of another project through @keelson/testcontainers', async () => {
    // The example of its README, with a check of its promises before it stops.
    const checks = `
      const ask = async (url, headers) => (await fetch(url, { headers })).status;
      const { get } = await import('node:https');
      const secured = new Promise((resolve, reject) =>
        get(keelson.httpsUrl + '/healthz', { ca: keelson.caCertificate }, (r) => resolve(r.resume().statusCode)).on('error', reject));
      console.log(JSON.stringify([
        await ask(keelson.httpUrl + '/v1/sys/mounts/pki', { 'x-service-token': keelson.rootToken }),
        await ask(keelson.httpUrl + '/api/v2/account/details', { authorization: 'Bearer ' + keelson.apiToken }),
        await secured,
      ]));`;
    expect(await runReadmeBlock(0, checks, images)).toBe('[200,200,200]\n');
  });

  test.for(['go', 'java', 'python'] as const)('runs in the example for %s', async (language) => {
    expect((await runExample(language, images.keelson)).trim()).toBe('204 admin');
  });

  test('replicates in a pair that one call starts, and which can be promoted', async () => {
    const checks = `
      const ask = async (url, headers) => (await fetch(url, { headers })).status;
      console.log(JSON.stringify([
        await ask(pair.secondary.httpUrl + '/v1/sys/policies/acl/app', { 'x-service-token': pair.secondaryToken }),
        await ask(pair.primary.httpUrl + '/v1/sys/policies/acl/app', { 'x-service-token': pair.secondaryToken }),
        pair.unsealKeys.length,
      ]));`;
    expect(await runReadmeBlock(1, checks, images)).toBe('[200,403,5]\n');
  });

  test('is distributed in a cluster that one call starts, and leaves nothing behind', async () => {
    const checks = `
      const ask = async (url, headers) => (await fetch(url, { headers })).status;
      console.log(JSON.stringify([
        await ask(cluster.httpUrl + '/v1/sys/mounts', { 'x-service-token': cluster.rootToken }),
        await ask(cluster.httpUrl + '/api/v2/account/details', { authorization: 'Bearer ' + cluster.apiToken }),
        cluster.recoveryKeys.length,
        Object.keys(cluster.services),
      ]));`;
    expect(await runReadmeBlock(2, checks, images)).toBe(
      '[200,200,5,["sys","pki","workspace","auth","gateway"]]\n',
    );
    const volumes = ['volume', 'ls', '--quiet', '--filter', 'name=keelson-trust-'];
    expect((await run('docker', volumes)).stdout).toBe('');
  });

  test('starts by the lines of its page, under a root that is read-only', async () => {
    const name = `keelson-${randomBytes(4).toString('hex')}`;
    const [starting = '', showing = ''] = documentedCommands('docs/releasing.md', 'The image')
      .replaceAll('keelson:0.1.0', images.keelson)
      .replaceAll(/--name keelson|keelson:\/data|exec keelson/g, (part) =>
        part.replace('keelson', name),
      )
      .replace('8200:8200', '127.0.0.1::8200')
      .replace('8443:8443', '127.0.0.1::8443')
      .split('\n');
    try {
      await run('sh', ['-euc', starting]);
      const { stdout: port } = await run('docker', ['port', name, '8200']);
      await vi.waitFor(
        async () => expect((await call(`http://${port.trim()}/readyz`)).status).toBe(200),
        { timeout: 180_000, interval: 200 },
      );
      // It serves requests a moment before it has stored the first tokens.
      await vi.waitFor(
        async () => expect((await run('docker', ['logs', name])).stdout).toContain('Keelson is up'),
        { timeout: 180_000, interval: 200 },
      );
      const facts = (await run('sh', ['-euc', showing])).stdout;
      expect(JSON.parse(facts)).toMatchObject({ root_token: expect.any(String) });
      const user = ['inspect', '--format', '{{.Config.User}}', name];
      expect((await run('docker', user)).stdout.trim()).toBe('65532:65532');
    } finally {
      await run('docker', ['rm', '--force', '--volumes', name]);
      await run('docker', ['volume', 'rm', '--force', name]);
    }
  });

  test('holds at most 120 MB beyond its base and Node.js, and no tool of the tests', async () => {
    const script =
      'cd /keelson && du -sm . | cut -f1 && du -sm node_modules/node | cut -f1 && ls node_modules && find . -name "*.test.ts"';
    const options = ['--rm', '--entrypoint', '/bin/sh', images.keelson, '-c', script];
    const { stdout } = await run('docker', ['run', ...options]);
    const [all, node, ...names] = stdout.trim().split('\n');
    expect(Number(all) - Number(node)).toBeLessThanOrEqual(120);
    const tools = ['playwright-core', 'vitest', 'testcontainers', 'fast-check', 'typescript'];
    expect(names.filter((name) => tools.includes(name) || name.endsWith('.test.ts'))).toEqual([]);
    const labels = ['inspect', '--format', '{{json .Config.Labels}}', images.keelson];
    expect(JSON.parse((await run('docker', labels)).stdout)).toMatchObject({
      'org.opencontainers.image.title': 'Keelson',
      'org.opencontainers.image.version': expect.any(String),
    });
  });

  test('runs as restricted as in a pod of deploy/kubernetes', async () => {
    const manifests = join(REPOSITORY, 'deploy/kubernetes/standalone/keelson.yaml');
    const pod = parseAllDocuments(await readFile(manifests, 'utf8'))
      .find((manifest) => manifest.get('kind') === 'StatefulSet')
      ?.getIn(['spec', 'template', 'spec', 'containers', 0]);
    if (!isMap(pod)) throw new Error('no StatefulSet with a container');
    const { env, args } = pod.toJSON() as PodContainer;
    const volume = `keelson-test-${randomBytes(6).toString('hex')}`;
    const mount = ['--volume', `${volume}:/data`];
    // As the kubelet gives a volume to a group: its root stays root's.
    const give = 'chown root:65532 /data && chmod 2775 /data';
    const shell = ['--user', '0', '--entrypoint', '/bin/sh', images.keelson, '-c', give];
    await run('docker', ['run', '--rm', ...mount, ...shell]);
    const restrictions = [
      '--user=65532:65532',
      '--read-only',
      '--tmpfs=/tmp',
      '--cap-drop=ALL',
      '--security-opt=no-new-privileges',
    ];
    const settings = env.map(({ name, value }) => `--env=${name}=${value}`);
    const options = [
      '--detach',
      '--publish=127.0.0.1::8200',
      '--health-interval=1s',
      ...mount,
      ...restrictions,
      ...settings,
    ];
    const started = await run('docker', ['run', ...options, images.keelson, ...args]);
    const container = started.stdout.trim();
    try {
      const { stdout } = await run('docker', ['port', container, '8200']);
      await vi.waitFor(
        async () => expect((await call(`http://${stdout.trim()}/readyz`)).status).toBe(200),
        { timeout: 180_000, interval: 200 },
      );
      // It serves requests a moment before it has stored the first tokens.
      const logged = await vi.waitFor(
        async () => {
          const { stdout: lines } = await run('docker', ['logs', container]);
          expect(lines).toContain('Keelson is up');
          return lines;
        },
        { timeout: 180_000, interval: 200 },
      );
      const facts = ['exec', container, 'cat', '/data/keelson/first-run.json'];
      const { root_token } = JSON.parse((await run('docker', facts)).stdout) as {
        readonly root_token: string;
      };
      expect(logged).not.toContain(root_token);
      const health = ['inspect', '--format', '{{.State.Health.Status}}', container];
      await vi.waitFor(
        async () => expect((await run('docker', health)).stdout.trim()).toBe('healthy'),
        { timeout: 60_000, interval: 200 },
      );
    } finally {
      await run('docker', ['rm', '--force', '--volumes', container]);
      await run('docker', ['volume', 'rm', volume]);
    }
  });
});

describe('the distributed installation', () => {
  const project = `keelson-${randomBytes(4).toString('hex')}`;
  let base: string;
  let rootToken: string;
  let apiToken: string;
  /** Folder with the policies of the policy service, mounted by docker-compose.yml. */
  let policyFolder: TemporaryDirectory;
  /** Folder with releases for the runner, mounted by docker-compose.yml: there are none. */
  let toolsFolder: TemporaryDirectory;

  const compose = (...args: string[]) =>
    run('docker-compose', ['-p', project, '--profile', 'replication', ...args], {
      cwd: REPOSITORY,
      env: {
        ...process.env,
        ...images.environment,
        KEELSON_PORT: '127.0.0.1:0',
        KEELSON_BRANCH_PORT: '127.0.0.1:0',
        KEELSON_SPARE_PORT: '127.0.0.1:0',
        KEELSON_POLICY_FOLDER: policyFolder.path,
        KEELSON_TOOLS_FOLDER: toolsFolder.path,
      },
      maxBuffer: 64 * 1024 * 1024,
    });
  const v1 = (method: string, path: string, body?: unknown) =>
    call(`${base}/v1/${path}`, {
      method,
      headers: { 'x-service-token': rootToken },
      ...(body === undefined ? {} : { body }),
    });
  const api = (method: string, path: string, body?: unknown) =>
    call(`${base}/api/v2/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${apiToken}`,
        'content-type': 'application/vnd.api+json',
      },
      ...(body === undefined ? {} : { body }),
    });
  /** Waits for something that happens in other processes: until the call answers with the status. */
  const eventually = (status: number, ask: () => Promise<Answer>) =>
    vi.waitFor(
      async () => {
        const answer = await ask();
        if (answer.status !== status)
          throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
      },
      { timeout: 180_000, interval: 200 },
    );
  /** Waits for the file, and for the container, which starts again while another is not up. */
  const keptBy = async (service: string, file: string): Promise<string> => {
    const read = () => compose('exec', '-T', service, 'cat', `/data/${file}`);
    return (await vi.waitFor(read, { timeout: STORY_LIMIT_MS, interval: 500 })).stdout;
  };
  /** The demo initializes the cluster and stores the answer. */
  const keptByDemo = async (file: string): Promise<Record<string, unknown>> =>
    JSON.parse(await keptBy('demo', file)) as Record<string, unknown>;
  const restarted = async (service: string) => {
    await compose('kill', '-s', 'SIGKILL', service);
    await compose('start', service);
  };

  beforeAll(async () => {
    policyFolder = await temporaryDirectory();
    toolsFolder = await temporaryDirectory();
    // Readable by the separate users of runs.
    await chmod(toolsFolder.path, 0o755);
    const replicated = ['gateway', 'sys', 'pki', 'workspace', 'auth'];
    await compose('up', '-d', ...replicated.flatMap((name) => ['--scale', `${name}=2`]));
    const { stdout } = await compose('port', 'proxy', '8200');
    base = `http://${stdout.trim()}`;
    rootToken = (await keptByDemo('first-run.json'))['root_token'] as string;
    await eventually(200, () => call(`${base}/readyz`));
    // As its README has the operator ask for it; made by one of the replicas.
    apiToken = (await keptBy('workspace', 'first-token')).trim();
    await eventually(200, () => api('GET', 'account/details'));
  }, STORY_LIMIT_MS + BUILD_LIMIT_MS);
  afterAll(async () => {
    await compose('--profile', 'policy', 'down', '-v', '--timeout', '5');
    await policyFolder[Symbol.asyncDispose]();
    await toolsFolder[Symbol.asyncDispose]();
  });

  test(
    'tells the story of replication between its clusters',
    async () => {
      const told = await vi.waitFor(
        async () => {
          const { stdout } = await compose('logs', '--no-color', 'demo');
          if (!/✘|The clusters stay up/.test(stdout)) throw new Error(stdout);
          return stdout;
        },
        { timeout: STORY_LIMIT_MS, interval: 1000 },
      );
      expect(told).toContain('Seen from beginning to end.');
      expect(told).not.toContain('✘');
      expect(told).not.toContain(rootToken);
      // The secondary that the story set up still answers.
      const { secondary } = await keptByDemo('tokens.json');
      const { stdout } = await compose('port', 'branch', '8200');
      const headers = { 'x-service-token': secondary as string };
      const url = `http://${stdout.trim()}/v1/sys/policies/acl/home`;
      expect((await call(url, { headers })).status).toBe(200);
    },
    STORY_LIMIT_MS + 60_000,
  );

  test('unseals every replica after one of them was initialized', async () => {
    await vi.waitFor(
      async () => {
        const { stdout } = await compose('logs', 'sys');
        expect(stdout.match(/"sealed":false/g)).toHaveLength(2);
      },
      { timeout: 180_000, interval: 500 },
    );
  });

  test('issues certificates with unique serials from both replicas of pki', async () => {
    expect((await v1('POST', 'sys/mounts/ca', { type: 'pki' })).status).toBe(204);
    await eventually(200, () =>
      v1('POST', 'ca/root/generate/internal', { common_name: 'Root', key_type: 'ec' }),
    );
    await v1('POST', 'ca/roles/any', { allow_any_name: true, key_type: 'ec', ttl: '24h' });
    const issued = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        v1('POST', 'ca/issue/any', { common_name: `host-${i}.example.com` }),
      ),
    );
    expect(issued.map(({ status }) => status)).toEqual(issued.map(() => 200));
    expect(new Set(issued.map(({ body }) => body.data.serial_number as string)).size).toBe(50);
  });

  test('leaves the decision about certificates to the policy service of its profile', async () => {
    // Another mount vouches for both ends.
    await v1('POST', 'sys/mounts/services', { type: 'pki', config: { max_lease_ttl: '8760h' } });
    const root = await v1('POST', 'services/root/generate/internal', {
      common_name: 'Services',
      key_type: 'ec',
      ttl: '8760h',
    });
    const authority = root.body.data.certificate as string;
    const anyName = { allow_any_name: true, enforce_hostnames: false };
    await v1('POST', 'services/roles/service', { ...anyName, key_type: 'ec', ttl: '24h' });
    const issue = async (common_name: string) =>
      (await v1('POST', 'services/issue/service', { common_name })).body.data as {
        readonly certificate: string;
        readonly private_key: string;
      };
    const server = await issue('policy-service');
    const web = { allowed_names: ['*.example.com'], ttl_seconds: 3600, max_ttl_seconds: 3600 };
    const files = {
      'certificate.pem': server.certificate,
      'key.pem': server.private_key,
      'caller-authority.pem': authority,
      'rules.json': JSON.stringify({ default_policy: 'web', policies: { web } }),
    };
    // Read by the unprivileged user of the container, and by no other.
    await chmod(policyFolder.path, 0o755);
    for (const [name, content] of Object.entries(files)) {
      const file = join(policyFolder.path, name);
      await writeFile(file, content, { mode: 0o600 });
      await chown(file, CONTAINER_USER, CONTAINER_USER);
    }
    await compose('--profile', 'policy', 'up', '-d', '--no-deps', 'policy-service');

    const client = await issue('pki');
    const configured = await v1('POST', 'ca/config/external-policy', {
      enabled: true,
      external_service_url: 'https://policy-service:8444/evaluate',
      trusted_ca: authority,
      vault_client_cert_bundle: `${client.certificate}\n${client.private_key}`,
    });
    expect(configured.status).toBe(200);
    const ask = (common_name: string) =>
      v1('POST', 'ca/external-policy/issue/web', { common_name, key_type: 'ec' });
    await eventually(200, () => ask('shop.example.com'));
    const made = await ask('shop.example.com');
    expect(new X509Certificate(made.body.data.certificate as string).subjectAltName).toBe(
      'DNS:shop.example.com',
    );
    const refused = await ask('shop.example.org');
    expect([refused.status, refused.body.errors[0]]).toEqual([
      400,
      expect.stringContaining('shop.example.org'),
    ]);
  });

  test('hands runs to the container of the runner', async () => {
    const resource = (type: string, attributes: object, relationships: object = {}) => ({
      data: { type, attributes, relationships },
    });
    const organization = { name: 'built', email: 'a@b.example' };
    await api('POST', 'organizations', resource('organizations', organization));
    const path = 'organizations/built/workspaces';
    const workspace = await api('POST', path, resource('workspaces', { name: 'web' }));
    const id = workspace.body.data.id as string;
    const announced = await api(
      'POST',
      `workspaces/${id}/configuration-versions`,
      resource('configuration-versions', { 'auto-queue-runs': false }),
    );
    const url = announced.body.data.attributes['upload-url'] as string;
    // Never unpacked: there is no tool.
    expect((await fetch(url, { method: 'PUT', body: Uint8Array.of(0x1f, 0x8b) })).status).toBe(204);
    const asked = { workspace: { data: { type: 'workspaces', id } } };
    const run = await api('POST', 'runs', resource('runs', {}, asked));
    const planId = (run.body.data.id as string).replace('run-', 'plan-');
    const plan = await vi.waitFor(
      async () => {
        const shown = await api('GET', `plans/${planId}`);
        expect(shown.body.data.attributes.status).toBe('errored');
        return shown;
      },
      { timeout: 180_000, interval: 200 },
    );
    const log = await fetch(plan.body.data.attributes['log-read-url'] as string);
    expect(await log.text()).toContain(
      'The folder /tools (KEELSON_RUNNER_TOOLS_FOLDER) has no terraform or tofu.',
    );
  });

  test('lets one of many lockers over two replicas win', async () => {
    await api('POST', 'organizations', {
      data: { type: 'organizations', attributes: { name: 'acme', email: 'a@b.example' } },
    });
    const created = await api('POST', 'organizations/acme/workspaces', {
      data: { type: 'workspaces', attributes: { name: 'web' } },
    });
    expect(created.status).toBe(201);
    const path = `workspaces/${created.body.data.id as string}/actions/lock`;
    const locks = await Promise.all(Array.from({ length: 20 }, () => api('POST', path, {})));
    expect(locks.map(({ status }) => status).sort((a, b) => a - b)).toEqual([
      200,
      ...Array.from({ length: 19 }, () => 409),
    ]);
  });

  test('refuses a revoked token at once on every replica', async () => {
    const { body } = await v1('POST', 'auth/token/create', {});
    const token = body.auth.client_token as string;
    const lookUp = () =>
      call(`${base}/v1/auth/token/lookup-self`, { headers: { 'x-service-token': token } });
    expect((await lookUp()).status).toBe(200);
    expect((await v1('POST', 'auth/token/revoke', { token })).status).toBe(204);
    const after = await Promise.all(Array.from({ length: 10 }, lookUp));
    expect(after.map(({ status }) => status)).toEqual(after.map(() => 403));
  });

  test('continues after one of two gateways is killed, and reports its health', async () => {
    const idsOf = async (service: string): Promise<string[]> =>
      (await compose('ps', '-q', service)).stdout.trim().split('\n');
    const healthOf = async (id: string): Promise<string> => {
      const format = '--format={{.State.Health.Status}}';
      return (await run('docker', ['inspect', format, id])).stdout.trim();
    };
    const asked = ['postgres', 'redis', 'sys', 'pki', 'workspace', 'auth', 'gateway'];
    for (const service of asked)
      for (const id of await idsOf(service))
        await vi.waitFor(
          async () => expect([service, await healthOf(id)]).toEqual([service, 'healthy']),
          {
            timeout: 180_000,
            interval: 500,
          },
        );
    const [first = ''] = await idsOf('gateway');
    await run('docker', ['kill', first]);
    // The first may be sent there before it is known to be gone, and is then sent to the other.
    for (let asking = 0; asking < 20; asking++)
      expect((await v1('LIST', 'ca/roles')).status).toBe(200);
    await run('docker', ['start', first]);
  });

  test.for(['postgres', 'redis', 'nats', 'gateway', 'sys', 'pki', 'workspace', 'auth'])(
    'recovers from a killed %s without intervention',
    async (service) => {
      await restarted(service);
      await eventually(200, () => v1('LIST', 'ca/roles'));
      await eventually(200, () => api('GET', 'organizations/acme/workspaces/web'));
      await eventually(200, () =>
        v1('POST', 'ca/issue/any', { common_name: `after-${service}.example.com` }),
      );
      // None of the 50 certificates issued before the kills, nor the one issued after each kill, is lost.
      // Either gateway may answer, and each reconnects to its services by itself.
      const kept = await vi.waitFor(
        async () => {
          const listed = await v1('LIST', 'ca/certs');
          expect(listed.status).toBe(200);
          return listed;
        },
        { timeout: 180_000, interval: 200 },
      );
      expect(kept.body.data.keys.length).toBeGreaterThanOrEqual(52);
    },
  );
});
