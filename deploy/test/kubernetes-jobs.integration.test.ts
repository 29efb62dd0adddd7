/**
 * The agent that executes each phase in a Job of Kubernetes, with a control plane, the terraform binary, the manifests
 * of `deploy/kubernetes/agent`, a real API server, and the nodes of a cluster in `stand-in-cluster.ts`.
 *
 * | what happens                     | then                                                                       |
 * | -------------------------------- | -------------------------------------------------------------------------- |
 * | a run is planned and applied     | two Jobs, whose pods send log and state; neither they nor Secrets are left  |
 * | a pod is looked at               | no token, no rights, a read-only root, limits, a place of the pool         |
 * | the agent asks the API server    | for what its Role allows, and for all of that                              |
 * | code of a run looks for the phase | it finds no Secret, and no token of the agent's pool                       |
 * | a pod ends without a report      | the run is errored, with the reason in its log                             |
 * | the agent is stopped twice       | the pod gets a signal, and the run ends                                    |
 * | a run signs in                   | the log has none of its tokens, and none is left at the end of the phase   |
 * | it is stopped meanwhile          | its token is revoked as well                                               |
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findBinary, startKeelson, temporaryDirectory } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { REPOSITORY } from './images.ts';
import { type StandInCluster, startStandInCluster } from './stand-in-cluster.ts';

const run = promisify(execFile);
const LIMIT_MS = 300_000;

interface Resource {
  readonly id: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** The manifests of the agent, which the chart prints. */
const MANIFESTS = parseAllDocuments(
  readFileSync(join(REPOSITORY, 'deploy/kubernetes/agent/keelson.yaml'), 'utf8'),
).map((document) => document.toJS() as { readonly kind: string });
const manifestOf = <T>(kind: string): T => MANIFESTS.find((one) => one.kind === kind) as T;
const { data } = manifestOf<{ readonly data: Readonly<Record<string, string>> }>('ConfigMap');
/** Their template, with a node selector. */
const TEMPLATE = {
  ...(JSON.parse(data['job.json'] ?? '') as {
    readonly image: string;
    readonly resources: object;
    readonly deadlineSeconds: number;
    readonly serviceAccountName: string;
  }),
  nodeSelector: { pool: 'runs' },
};
const { rules: RULES } = manifestOf<{
  readonly rules: readonly {
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}>('Role');

const started = new AsyncDisposableStack();
let folder: string;
let cluster: StandInCluster;
let call: (method: string, path: string, body?: unknown) => Promise<unknown>;
/** Calls the secrets API as root. */
let v1: (method: string, path: string, body?: object) => Promise<unknown>;
let signsIn: Readonly<Record<string, string>>;
let pool: Resource;
let agentSettings: Readonly<Record<string, string>>;

const create = async (
  path: string,
  type: string,
  attributes: object,
  relationships = {},
): Promise<Resource> =>
  (await call('POST', path, { data: { type, attributes, relationships } })) as Resource;

/** A method with which runs of the organization sign in. */
const acceptRuns = async (): Promise<void> => {
  await v1('POST', 'sys/auth/runs', { type: 'jwt' });
  await v1('POST', 'auth/runs/config', { keelson_runs: true });
  await v1('POST', 'auth/runs/role/acme', {
    role_type: 'jwt',
    bound_audiences: 'vault.workload.identity',
    bound_claims: { terraform_organization_name: 'acme' },
    user_claim: 'terraform_full_workspace',
    token_ttl: '20m',
  });
};

const accessors = async (): Promise<readonly string[]> => {
  const { data: found } = (await v1('LIST', 'auth/token/accessors')) as {
    readonly data: { readonly keys: readonly string[] };
  };
  return found.keys.toSorted();
};

beforeAll(async () => {
  const terraform = await findBinary('terraform', 'terraform');
  folder = started.use(await temporaryDirectory()).path;
  cluster = started.use(await startStandInCluster(join(folder, 'cluster'), [terraform]));
  const keelson = await startKeelson({ dataFolder: join(folder, 'keelson') });
  started.defer(async () => void (await keelson.stop()));
  call = async (method, path, body) => {
    const response = await fetch(`${keelson.http}/api/v2${path}`, {
      method,
      headers: {
        authorization: `Bearer ${keelson.apiToken}`,
        'content-type': 'application/vnd.api+json',
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : (JSON.parse(text) as { readonly data: unknown }).data;
  };
  v1 = async (method, path, body) => {
    const response = await fetch(`${keelson.http}/v1/${path}`, {
      method,
      headers: { 'x-service-token': keelson.rootToken },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  await acceptRuns();
  signsIn = {
    TFC_VAULT_PROVIDER_AUTH: 'true',
    TFC_VAULT_ADDR: keelson.http,
    TFC_VAULT_AUTH_PATH: 'runs',
    TFC_VAULT_RUN_ROLE: 'acme',
  };
  await create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  pool = await create('/organizations/acme/agent-pools', 'agent-pools', { name: 'pool' });
  const path = `/agent-pools/${pool.id}/authentication-tokens`;
  const token = await create(path, 'authentication-tokens', { description: 'jobs' });
  const account = join(folder, 'service-account');
  await mkdir(account);
  await writeFile(join(account, 'token'), `${cluster.token}\n`);
  await copyFile(cluster.authorityFile, join(account, 'ca.crt'));
  await writeFile(join(folder, 'job.json'), JSON.stringify(TEMPLATE));
  agentSettings = {
    KEELSON_AGENT_ADDRESS: keelson.http,
    KEELSON_AGENT_TOKEN: String(token.attributes['token']),
    KEELSON_AGENT_FOLDER: join(folder, 'agent'),
    KEELSON_AGENT_POLL_MILLISECONDS: '200',
    KEELSON_AGENT_TERRAFORM: terraform,
    KEELSON_AGENT_JOB_FILE: join(folder, 'job.json'),
    KEELSON_AGENT_KUBERNETES_ADDRESS: cluster.address,
    KEELSON_AGENT_SERVICE_ACCOUNT_FOLDER: account,
  };
}, LIMIT_MS);
afterAll(() => started[Symbol.asyncDispose]());

const startAgent = () => {
  const main = join(REPOSITORY, 'deploy/agent/src/main.ts');
  const child = spawn(process.execPath, ['--disable-sigusr1', main], {
    env: { PATH: process.env['PATH'] ?? '', ...agentSettings },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { child, ended };
};

/** Starts a run of a configuration. @returns the workspace */
const startRun = async (
  name: string,
  configuration: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<Resource> => {
  const workspace = await create('/organizations/acme/workspaces', 'workspaces', {
    name,
    'execution-mode': 'agent',
    'agent-pool-id': pool.id,
    'auto-apply': true,
  });
  for (const [key, value] of Object.entries(variables))
    await create(`/workspaces/${workspace.id}/vars`, 'vars', { key, value, category: 'env' });
  const files = join(folder, name);
  await mkdir(files);
  await writeFile(join(files, 'main.tf'), configuration);
  const archive = join(folder, `${name}.tar.gz`);
  await run('tar', ['-czf', archive, '-C', files, '.']);
  const path = `/workspaces/${workspace.id}/configuration-versions`;
  const version = await create(path, 'configuration-versions', {});
  const url = String(version.attributes['upload-url']);
  expect((await fetch(url, { method: 'PUT', body: await readFile(archive) })).status).toBe(204);
  return workspace;
};

const runOf = async ({ id }: Resource): Promise<Resource | undefined> =>
  ((await call('GET', `/workspaces/${id}/runs`)) as Resource[])[0];
const untilRunIs = (workspace: Resource, status: string): Promise<void> =>
  vi.waitFor(async () => expect((await runOf(workspace))?.attributes['status']).toBe(status), {
    timeout: 120_000,
    interval: 300,
  });
const logOf = async (workspace: Resource, phase: 'plan' | 'apply'): Promise<string> => {
  const id = (await runOf(workspace))?.id.replace('run-', `${phase}-`);
  const path = phase === 'plan' ? 'plans' : 'applies';
  const shown = (await call('GET', `/${path}/${id}`)) as Resource;
  return (await fetch(String(shown.attributes['log-read-url']))).text();
};

/** The process of the next container that executes a phase. */
const nextExecution = async (): Promise<number> => {
  for (;;) {
    const [step, processId] = (await once(cluster.events, 'container')) as [string, number];
    if (step === 'execute') return processId;
  }
};

describe('an agent with Jobs', { timeout: LIMIT_MS }, () => {
  test('plans and applies a run in pods, whose code sees nothing of the agent, and leaves nothing', async () => {
    const agent = startAgent();
    const workspace = await startRun(
      'app',
      `resource "terraform_data" "one" {
  input = "made in a pod"
  provisioner "local-exec" {
    command = <<-EOT
      echo "phase=[$(ls -A /run/phase)] secret=[$(ls -A /run/secret 2>/dev/null)]" \\
        "settings=[$(tr '\\0' '\\n' </proc/self/environ | grep ^KEELSON_)] user=$(id -u)" \\
        "root=[$(touch /here 2>&1 | grep -o 'Read-only file system')]"
    EOT
  }
}
output "one" { value = terraform_data.one.output }
`,
    );
    await untilRunIs(workspace, 'applied');
    const outputs = await call('GET', `/workspaces/${workspace.id}/current-state-version-outputs`);
    expect((outputs as Resource[]).map(({ attributes }) => attributes['value'])).toEqual([
      'made in a pod',
    ]);
    expect(await logOf(workspace, 'plan')).toContain('Terraform v');
    expect(await logOf(workspace, 'apply')).toContain(
      'phase=[] secret=[] settings=[] user=65532 root=[Read-only file system]',
    );
    agent.child.kill('SIGTERM');
    await agent.ended;
    await expect.poll(() => cluster.present()).toEqual([]);
    expect(cluster.created).toHaveLength(2);
  });

  test('asked the API server for everything that its Role allows, and for nothing else', async () => {
    const allowed = RULES.flatMap(({ resources, verbs }) =>
      verbs.map((verb) => `${verb} ${resources[0]}`),
    );
    const audited = await cluster.audited();
    expect([...new Set(audited.map(({ asked }) => asked))].toSorted()).toEqual(allowed.toSorted());
    expect(audited.filter(({ status }) => status === 401 || status === 403)).toEqual([]);
  });

  test('gives a pod no token, no rights, no writable root, and the limits and the place of the pool', () => {
    const [job] = cluster.created;
    expect(job?.spec).toMatchObject({
      backoffLimit: 0,
      activeDeadlineSeconds: TEMPLATE.deadlineSeconds,
      ttlSecondsAfterFinished: 300,
    });
    const pod = job?.spec?.template.spec;
    expect(pod).toMatchObject({
      restartPolicy: 'Never',
      serviceAccountName: TEMPLATE.serviceAccountName,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      nodeSelector: { pool: 'runs' },
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    const containers = [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])];
    expect(containers.map(({ name }) => name)).toEqual(['receive', 'execute']);
    for (const container of containers)
      expect(container).toMatchObject({
        image: TEMPLATE.image,
        resources: TEMPLATE.resources,
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
      });
    expect(JSON.stringify(job)).not.toContain(agentSettings['KEELSON_AGENT_TOKEN']);
    expect(containers[1]?.volumeMounts.map(({ name }) => name)).not.toContain('secret');
  });

  test('a pod that ends without a report ends its run as errored, with the reason', async () => {
    const agent = startAgent();
    const execution = nextExecution();
    const workspace = await startRun('killed', 'output "one" { value = 1 }\n');
    process.kill(await execution, 'SIGKILL');
    await untilRunIs(workspace, 'errored');
    expect(await logOf(workspace, 'plan')).toContain(
      'The Job of this plan failed: BackoffLimitExceeded: Job has reached the specified backoff limit',
    );
    agent.child.kill('SIGTERM');
    await agent.ended;
    await expect.poll(() => cluster.present()).toEqual([]);
  });

  test('a run signs in from its pod, its log hides the tokens, and they are revoked', async () => {
    const before = await accessors();
    const agent = startAgent();
    const workspace = await startRun(
      'signs-in',
      `resource "terraform_data" "one" {
  provisioner "local-exec" {
    command = "env | grep -E 'TOKEN|VAULT_ADDR'; cat ../credentials/VAULT/token"
  }
}
`,
      { ...signsIn, TFC_WORKLOAD_IDENTITY_AUDIENCE: 'shown' },
    );
    await untilRunIs(workspace, 'applied');
    const log = await logOf(workspace, 'apply');
    expect(log).toContain('VAULT_TOKEN=(sensitive value)');
    expect(log).toContain('TFC_WORKLOAD_IDENTITY_TOKEN=(sensitive value)');
    expect(log).toContain(`VAULT_ADDR=${signsIn['TFC_VAULT_ADDR']}`);
    expect(log).toMatch(/\(local-exec\): \(sensitive value\)/);
    expect(log).not.toMatch(/hvs\.|eyJ/);
    expect(await accessors()).toEqual(before);
    agent.child.kill('SIGTERM');
    await agent.ended;
    await expect.poll(() => cluster.present()).toEqual([]);
  });

  test('an agent that is stopped twice stops the pod, whose run ends with a reason and no token', async () => {
    const before = await accessors();
    const agent = startAgent();
    const workspace = await startRun(
      'stopped',
      'resource "terraform_data" "one" {\n  provisioner "local-exec" { command = "exec sleep 600" }\n}\n',
      signsIn,
    );
    await vi.waitFor(
      async () => expect(await logOf(workspace, 'apply')).toContain('Provisioning with'),
      { timeout: 120_000, interval: 300 },
    );
    expect(await accessors()).toHaveLength(before.length + 1);
    agent.child.kill('SIGTERM');
    agent.child.kill('SIGINT');
    await agent.ended;
    await untilRunIs(workspace, 'errored');
    expect(await logOf(workspace, 'apply')).toContain(
      'The pod of this run was stopped before the phase had ended.',
    );
    expect(await accessors()).toEqual(before);
    await expect.poll(() => cluster.present()).toEqual([]);
  });
});
