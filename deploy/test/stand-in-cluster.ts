/**
 * A Kubernetes cluster for the tests of Jobs: a real API server, and in the place of its controllers and nodes a part
 * that makes a pod of each Job, runs the containers of it as processes, each with the folders that its volumes give
 * it, a read-only root, and the user of the pod, and reports how they have ended.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { realpathSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { findBinary } from '@keelson/testkit';
import { type ApiServer, type AuditedRequest, startApiServer } from './api-server.ts';
import { REPOSITORY } from './images.ts';

interface Mount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
}

export interface JobContainer {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly resources: object;
  readonly securityContext: object;
  readonly volumeMounts: readonly Mount[];
}

export interface JobPod {
  readonly securityContext: { readonly runAsUser: number; readonly runAsGroup: number };
  readonly initContainers: readonly JobContainer[];
  readonly containers: readonly JobContainer[];
  readonly volumes: readonly {
    readonly name: string;
    readonly secret?: { readonly secretName: string };
    readonly emptyDir?: object;
  }[];
}

interface ContainerEvents {
  container: [step: string, processId: number];
}

interface Metadata {
  readonly name: string;
  readonly resourceVersion: string;
  readonly uid: string;
  readonly deletionTimestamp?: string;
  readonly ownerReferences?: readonly { readonly uid: string }[];
}

interface Secret {
  readonly metadata: Metadata;
  readonly data?: Readonly<Record<string, string>>;
}

export interface Job {
  readonly metadata: Metadata;
  readonly spec: { readonly template: { readonly metadata: object; readonly spec: JobPod } };
}

export interface StandInCluster extends AsyncDisposable {
  readonly address: string;
  /** PEM file of its authority. */
  readonly authorityFile: string;
  /** The token of the agent's service account. */
  readonly token: string;
  /** Every Job that was created. */
  readonly created: readonly Job[];
  /** Names of what there is: "jobs keelson-plan-…". */
  present(): Promise<readonly string[]>;
  /** Requests of the agent. */
  audited(): Promise<readonly AuditedRequest[]>;
  /** Containers that begin. */
  readonly events: EventEmitter<ContainerEvents>;
}

const MAIN = join(REPOSITORY, 'deploy/agent/src/main.ts');
const MANIFESTS = join(REPOSITORY, 'deploy/kubernetes/agent');
const AGENT = 'system:serviceaccount:keelson-agent:keelson-agent';
const RUNS = '/api/v1/namespaces/keelson-runs';
const JOBS = '/apis/batch/v1/namespaces/keelson-runs/jobs';

interface Programs {
  readonly bwrap: string;
  /** Files that the image of the agent brings. */
  readonly tools: readonly string[];
}

/** @param volumes the folder of the pod's volumes */
const startContainer = (
  { bwrap, tools }: Programs,
  pod: JobPod,
  container: JobContainer,
  volumes: string,
): ChildProcess => {
  const modules = realpathSync(join(REPOSITORY, 'node_modules'));
  const visible = [REPOSITORY, modules, dirname(realpathSync(process.execPath))];
  const mounts = container.volumeMounts.flatMap(({ name, mountPath, readOnly }) => [
    readOnly === true ? '--ro-bind' : '--bind',
    join(volumes, name),
    mountPath,
  ]);
  const { runAsUser, runAsGroup } = pod.securityContext;
  const isolation = ['--unshare-user', `--uid=${runAsUser}`, `--gid=${runAsGroup}`].flatMap(
    (option) => option.split('='),
  );
  const root = [
    ...['/usr', '/etc', ...visible, ...tools].flatMap((path) => ['--ro-bind', path, path]),
    ...['bin', 'lib', 'lib64', 'sbin'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    '--dev',
    '/dev',
    '--ro-bind',
    '/proc',
    '/proc',
  ];
  const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
  const command = [process.execPath, '--disable-sigusr1', MAIN, ...container.args];
  return spawn(
    bwrap,
    [
      ...isolation,
      ...root,
      ...mounts,
      '--remount-ro',
      '/',
      '--die-with-parent',
      '--info-fd',
      '3',
      '--',
      ...command,
    ],
    {
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    },
  );
};

const conditions = (...types: readonly string[]): readonly object[] => {
  const now = new Date().toISOString();
  return types.map((type) => ({
    type,
    status: 'True',
    lastProbeTime: now,
    lastTransitionTime: now,
    ...(type.startsWith('Fail') && {
      reason: 'BackoffLimitExceeded',
      message: 'Job has reached the specified backoff limit',
    }),
  }));
};

/** Does what the controllers and the nodes of a cluster do with Jobs. */
class Nodes {
  readonly created: Job[] = [];
  readonly events = new EventEmitter<ContainerEvents>();
  readonly #api: ApiServer;
  readonly #folder: string;
  readonly #programs: Programs;
  readonly #secrets = new Map<string, Secret>();
  readonly #changes = new EventEmitter<{ secret: [] }>();
  /** By the name of the Job. */
  readonly #processes = new Map<string, { readonly child: ChildProcess; readonly id: number }>();
  readonly #running = new Set<string>();
  readonly #deleting = new Set<string>();

  constructor(api: ApiServer, folder: string, programs: Programs) {
    this.#api = api;
    this.#folder = folder;
    this.#programs = programs;
  }

  async followSecrets(): Promise<void> {
    for await (const { type, object } of this.#api.watch<Secret>(`${RUNS}/secrets`)) {
      if (type === 'DELETED') this.#secrets.delete(object.metadata.name);
      else this.#secrets.set(object.metadata.name, object);
      this.#changes.emit('secret');
    }
  }

  async followJobs(): Promise<void> {
    for await (const { type, object } of this.#api.watch<Job>(JOBS)) {
      const { name, uid, deletionTimestamp } = object.metadata;
      if (type === 'ADDED' && !this.created.some(({ metadata }) => metadata.uid === uid)) {
        this.created.push(object);
        void this.#runJob(object);
      }
      if (type === 'DELETED' || deletionTimestamp === undefined || this.#deleting.has(name))
        continue;
      this.#deleting.add(name);
      const running = this.#processes.get(name);
      // In the foreground: the Job is there until its pod has ended.
      if (running !== undefined) process.kill(running.id, 'SIGTERM');
      else if (!this.#running.has(name)) await this.#remove(object);
    }
  }

  end(): void {
    for (const { child } of this.#processes.values()) child.kill('SIGKILL');
  }

  /** @returns whether every container has ended with 0 */
  async #runPod(name: string, pod: JobPod): Promise<boolean> {
    const volumes = join(this.#folder, randomUUID());
    for (const volume of pod.volumes) {
      await mkdir(join(volumes, volume.name), { recursive: true });
      const { secretName } = volume.secret ?? {};
      if (secretName === undefined) continue;
      // A kubelet waits for the Secret.
      while (!this.#secrets.has(secretName)) await once(this.#changes, 'secret');
      const { data = {} } = this.#secrets.get(secretName) ?? {};
      for (const [file, content] of Object.entries(data))
        await writeFile(join(volumes, volume.name, file), Buffer.from(content, 'base64'));
    }
    for (const container of [...pod.initContainers, ...pod.containers]) {
      const child = startContainer(this.#programs, pod, container, volumes);
      const ended = once(child, 'exit');
      const errors = text(child.stdio[2] as Readable);
      const info = JSON.parse(await text(child.stdio[3] as Readable)) as { 'child-pid': number };
      const id = info['child-pid'];
      this.#processes.set(name, { child, id });
      this.events.emit('container', container.name, id);
      const [code] = await ended;
      this.#processes.delete(name);
      if (this.#deleting.has(name)) return false;
      if (code === 0) continue;
      process.stderr.write(`${container.name} ended with ${code}: ${await errors}\n`);
      return false;
    }
    return true;
  }

  async #runJob(job: Job): Promise<void> {
    const { name, uid } = job.metadata;
    const { metadata, spec } = job.spec.template;
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true };
    const startTime = new Date().toISOString();
    this.#running.add(name);
    await this.#api.call('POST', `${RUNS}/pods`, {
      metadata: { ...metadata, name, ownerReferences: [owner] },
      spec,
    });
    const isComplete = await this.#runPod(name, spec);
    this.#running.delete(name);
    const phase = isComplete ? 'Succeeded' : 'Failed';
    await this.#api.call('PATCH', `${RUNS}/pods/${name}/status`, { status: { phase } });
    if (this.#deleting.has(name)) return this.#remove(job);
    // Whoever has deleted it meanwhile wants no status.
    await this.#api
      .call('PATCH', `${JOBS}/${name}/status`, {
        status: isComplete
          ? {
              startTime,
              completionTime: new Date().toISOString(),
              succeeded: 1,
              conditions: conditions('SuccessCriteriaMet', 'Complete'),
            }
          : { startTime, failed: 1, conditions: conditions('FailureTarget', 'Failed') },
      })
      .catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
  }

  /** A Job that is being deleted, with what it owns. */
  async #remove({ metadata: { name, uid } }: Job): Promise<void> {
    await this.#api.call('DELETE', `${RUNS}/pods/${name}?gracePeriodSeconds=0`);
    for (const { metadata } of this.#secrets.values())
      if (metadata.ownerReferences?.some((owner) => owner.uid === uid))
        await this.#api.call('DELETE', `${RUNS}/secrets/${metadata.name}`);
    await this.#api.call('PATCH', `${JOBS}/${name}`, { metadata: { finalizers: null } });
  }
}

/**
 * @param folder for the server and the volumes of pods
 * @param tools files that the image of the agent brings
 */
export const startStandInCluster = async (
  folder: string,
  tools: readonly string[],
): Promise<StandInCluster> => {
  const bwrap = await findBinary('bwrap', 'bubblewrap');
  const api = await startApiServer(folder);
  await api.apply(MANIFESTS);
  const issued = await api.call<{ readonly status: { readonly token: string } }>(
    'POST',
    '/api/v1/namespaces/keelson-agent/serviceaccounts/keelson-agent/token',
    {},
  );
  const nodes = new Nodes(api, folder, { bwrap, tools });
  let isStopped = false;
  // The watches end with the server; before that, their end is an error that no test waits for.
  const following = [nodes.followSecrets(), nodes.followJobs()].map((watch) =>
    watch.catch((error: unknown) => {
      if (!isStopped) throw error;
    }),
  );
  const namesOf = async (path: string): Promise<readonly string[]> => {
    const { items } = await api.call<{ readonly items: readonly Secret[] }>('GET', path);
    return items.map(({ metadata }) => `${path.split('/').at(-1)} ${metadata.name}`);
  };
  return {
    address: api.address,
    authorityFile: api.authorityFile,
    token: issued.status.token,
    created: nodes.created,
    present: async () =>
      (await Promise.all([JOBS, `${RUNS}/secrets`, `${RUNS}/pods`].map(namesOf))).flat(),
    audited: async () => (await api.audited()).filter(({ user }) => user === AGENT),
    events: nodes.events,
    async [Symbol.asyncDispose]() {
      isStopped = true;
      nodes.end();
      await api[Symbol.asyncDispose]();
      await Promise.all(following);
    },
  };
};
