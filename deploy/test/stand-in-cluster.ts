/**
 * A part of a Kubernetes cluster for the tests of Jobs: an API server that keeps Jobs and Secrets, decodes them strictly
 * into the types of Kubernetes, and allows what a Role allows; and a kubelet that runs the containers of a pod as
 * processes, each with the folders that its volumes give it, a read-only root, and the user of the pod.
 *
 * No real API server takes part: it takes too long to build from source where the tests run.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { realpathSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { findBinary } from '@keelson/testkit';
import { REPOSITORY } from './images.ts';

export interface RoleRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

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

interface Stored {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly template: { readonly spec: JobPod } };
  readonly status?: object;
}

export interface StandInCluster extends AsyncDisposable {
  readonly address: string;
  /** The token that it expects. */
  readonly token: string;
  /** Verbs and resources that were asked for, such as "create jobs". */
  readonly asked: ReadonlySet<string>;
  /** Every object that was created. */
  readonly created: readonly Stored[];
  /** Names of what is there: "jobs keelson-plan-…". */
  readonly present: () => readonly string[];
  /** Containers that begin. */
  readonly events: EventEmitter<ContainerEvents>;
}

const MAIN = join(REPOSITORY, 'deploy/agent/src/main.ts');
const PATH = /^\/api(?:s\/batch)?\/v1\/namespaces\/([^/]+)\/(jobs|secrets)(?:\/([^/?]+))?$/;

const verbOf = (method: string, name: string | undefined, isWatch: boolean): string => {
  if (method === 'POST') return 'create';
  if (method === 'DELETE') return 'delete';
  if (isWatch) return 'watch';
  return name === undefined ? 'list' : 'get';
};

/**
 * @param folder for the volumes of pods
 * @param decode says "1 manifests" of an object that its type in Kubernetes has
 * @param tools files that the image of the agent brings
 */
export const startStandInCluster = async (
  folder: string,
  rules: readonly RoleRule[],
  decode: (text: string) => Promise<string>,
  tools: readonly string[],
): Promise<StandInCluster> => {
  const bwrap = await findBinary('bwrap', 'bubblewrap');
  const token = randomUUID();
  const stored = new Map<string, Stored>();
  const created: Stored[] = [];
  const asked = new Set<string>();
  const events = new EventEmitter<ContainerEvents>();
  const changes = new EventEmitter<{ change: [type: string, job: Stored]; secret: [] }>();
  changes.setMaxListeners(0);
  const processes = new Map<string, { readonly child: ChildProcess; readonly id: number }>();
  const deleting = new Set<string>();
  let version = 1;

  const put = (key: string, object: Stored, type: 'ADDED' | 'MODIFIED'): Stored => {
    version += 1;
    const next = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    stored.set(key, next);
    if (key.startsWith('jobs ')) changes.emit('change', type, next);
    else changes.emit('secret');
    return next;
  };
  const remove = (key: string): void => {
    const object = stored.get(key);
    if (object === undefined) return;
    stored.delete(key);
    if (!key.startsWith('jobs ')) return;
    changes.emit('change', 'DELETED', object);
    for (const [other, { metadata }] of stored)
      if (metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid)) remove(other);
  };

  const startContainer = (pod: JobPod, container: JobContainer, volumes: string): ChildProcess => {
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
      ...['bin', 'lib', 'lib64', 'sbin'].flatMap((name) => [
        '--symlink',
        `usr/${name}`,
        `/${name}`,
      ]),
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

  /** @returns whether every container has ended with 0 */
  const runPod = async (key: string, pod: JobPod): Promise<boolean> => {
    const volumes = join(folder, randomUUID());
    for (const { name, secret } of pod.volumes) {
      await mkdir(join(volumes, name), { recursive: true });
      if (secret === undefined) continue;
      // A kubelet waits for the Secret.
      while (!stored.has(`secrets ${secret.secretName}`)) await once(changes, 'secret');
      const { data = {} } = stored.get(`secrets ${secret.secretName}`) ?? {};
      for (const [file, content] of Object.entries(data))
        await writeFile(join(volumes, name, file), Buffer.from(content, 'base64'));
    }
    for (const container of [...pod.initContainers, ...pod.containers]) {
      const child = startContainer(pod, container, volumes);
      const ended = once(child, 'exit');
      const errors = text(child.stdio[2] as Readable);
      const info = JSON.parse(await text(child.stdio[3] as Readable)) as { 'child-pid': number };
      const id = info['child-pid'];
      processes.set(key, { child, id });
      events.emit('container', container.name, id);
      const [code] = await ended;
      if (deleting.has(key)) return false;
      if (code !== 0) {
        process.stderr.write(`${container.name} ended with ${code}: ${await errors}\n`);
        return false;
      }
    }
    return true;
  };

  const runJob = async (key: string, job: Stored): Promise<void> => {
    const pod = job.spec?.template.spec;
    if (pod === undefined) throw new Error('a Job without a pod');
    const isComplete = await runPod(key, pod);
    processes.delete(key);
    if (deleting.has(key)) return remove(key);
    const current = stored.get(key);
    if (current === undefined) return;
    const condition = isComplete
      ? { type: 'Complete', status: 'True' }
      : {
          type: 'Failed',
          status: 'True',
          reason: 'BackoffLimitExceeded',
          message: 'Job has reached the specified backoff limit',
        };
    put(key, { ...current, status: { conditions: [condition] } }, 'MODIFIED');
  };

  const watch = (response: ServerResponse, name: string, since: number): void => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const send = (type: string, job: Stored): void => {
      if (job.metadata.name === name && Number(job.metadata.resourceVersion) >= since)
        response.write(`${JSON.stringify({ type, object: job })}\n`);
    };
    const job = stored.get(`jobs ${name}`);
    if (job !== undefined && Number(job.metadata.resourceVersion) > since) send('MODIFIED', job);
    changes.on('change', send);
    response.on('close', () => changes.off('change', send));
    response.flushHeaders();
  };

  const create = async (resource: string, body: string): Promise<[number, object]> => {
    const verdict = await decode(body);
    if (verdict !== '1 manifests\n') return [422, { message: verdict }];
    const given = JSON.parse(body) as Stored;
    const key = `${resource} ${given.metadata.name}`;
    if (stored.has(key)) return [409, { message: `${key} exists` }];
    const object = put(
      key,
      { ...given, metadata: { ...given.metadata, uid: randomUUID() } },
      'ADDED',
    );
    created.push(object);
    if (resource === 'jobs') void runJob(key, object);
    return [201, object];
  };

  const destroy = async (key: string): Promise<[number, object]> => {
    if (!stored.has(key)) return [404, { message: 'not found' }];
    const running = processes.get(key);
    if (running !== undefined) {
      // In the foreground: the Job is there until its pod has ended.
      deleting.add(key);
      process.kill(running.id, 'SIGTERM');
      return [200, {}];
    }
    remove(key);
    return [200, {}];
  };

  const answer = async (
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<[number, object] | undefined> => {
    const url = new URL(request.url ?? '', 'http://cluster');
    if (request.headers.authorization !== `Bearer ${token}`) return [401, { message: 'who?' }];
    const [, , resource = '', name] = PATH.exec(url.pathname) ?? [];
    const isWatch = url.searchParams.get('watch') === 'true';
    const verb = verbOf(request.method ?? '', name, isWatch);
    asked.add(`${verb} ${resource}`);
    const group = url.pathname.startsWith('/apis/batch/') ? 'batch' : '';
    const isAllowed = rules.some(
      (rule) =>
        rule.apiGroups.includes(group) &&
        rule.resources.includes(resource) &&
        rule.verbs.includes(verb),
    );
    if (!isAllowed) return [403, { message: `${verb} ${resource} is not allowed` }];
    const body = await text(request);
    const key = `${resource} ${name}`;
    switch (verb) {
      case 'create':
        return create(resource, body);
      case 'delete':
        return destroy(key);
      case 'get': {
        const found = stored.get(key);
        return found === undefined ? [404, { message: 'not found' }] : [200, found];
      }
      default: {
        const [, only = ''] = (url.searchParams.get('fieldSelector') ?? '').split('metadata.name=');
        watch(response, only, Number(url.searchParams.get('resourceVersion')));
        return undefined;
      }
    }
  };

  const server = createServer((request, response) => {
    void answer(request, response).then((given) => {
      if (given === undefined) return;
      const [status, body] = given;
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    asked,
    created,
    present: () => [...stored.keys()],
    events,
    async [Symbol.asyncDispose]() {
      for (const { child } of processes.values()) child.kill('SIGKILL');
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
