/** A real API server of Kubernetes with its etcd, which enforces roles, admission and shapes, and nothing behind it. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  buildGoProgram,
  findBinary,
  findFreePort,
  ServerProcess,
  writeCertificates,
} from '@keelson/testkit';

const MODULE = join(import.meta.dirname, 'kube-apiserver');
const run = promisify(execFile);

/** Who asked for what, and the answer. */
export interface AuditedRequest {
  readonly user: string;
  /** Such as "create jobs". */
  readonly asked: string;
  readonly status: number;
}

interface Versioned {
  readonly metadata: { readonly resourceVersion: string };
}

export interface Watched<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: T;
}

/** The server cannot go on with a watch. */
interface WatchFault {
  readonly type: 'ERROR';
}

export interface ApiServer extends AsyncDisposable {
  readonly address: string;
  /** PEM file of its authority. */
  readonly authorityFile: string;
  /** As an administrator. @returns the answer @throws Error unless it succeeds */
  call<T>(method: string, path: string, body?: object): Promise<T>;
  /** Everything there is, and then each change, until the server stops. Something may be added more than once. */
  watch<T extends Versioned>(path: string): AsyncGenerator<Watched<T>>;
  /** Applies a folder of manifests with kubectl. */
  apply(folder: string): Promise<void>;
  audited(): Promise<readonly AuditedRequest[]>;
}

interface AuditEntry {
  readonly verb: string;
  readonly stage: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource: string };
  readonly responseStatus?: { readonly code: number };
}

/** The server refuses to be watched while its caches fill, which takes longer on a busy machine. */
const TOO_EARLY = 429;
const AGAIN_MS = 200;

class RefusedRequest extends Error {
  readonly status: number;

  constructor(what: string, status: number, answer: string) {
    super(`${what}: ${status} ${answer}`);
    this.status = status;
  }
}

/** Every request, with who made it and not what it contains. */
const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  rules: [{ level: 'Metadata' }],
};

const startEtcd = async (folder: string): Promise<{ process: ServerProcess; url: string }> => {
  const url = `http://127.0.0.1:${await findFreePort()}`;
  const peer = `http://127.0.0.1:${await findFreePort()}`;
  const process = new ServerProcess({
    file: await findBinary('etcd', 'etcd-server'),
    args: [
      `--data-dir=${folder}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
    ],
    ready: /ready to serve client requests/,
  });
  await process.start();
  return { process, url };
};

/** @param folder for its files @throws Error without Go */
export const startApiServer = async (folder: string): Promise<ApiServer> => {
  const program = await buildGoProgram(MODULE);
  await mkdir(folder, { recursive: true });
  await using stack = new AsyncDisposableStack();
  const etcd = await startEtcd(join(folder, 'etcd'));
  stack.defer(() => etcd.process.stop());
  const { authorityFile, certificateFile, keyFile } = await writeCertificates(folder);
  const ca = await readFile(authorityFile);
  const administrator = randomUUID();
  const [tokens, policy, log] = ['tokens.csv', 'audit.json', 'audit.log'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  await writeFile(tokens, `${administrator},admin,admin,system:masters\n`);
  await writeFile(policy, JSON.stringify(AUDIT_POLICY));
  const port = await findFreePort();
  const address = `https://127.0.0.1:${port}`;
  const server = new ServerProcess({
    file: program,
    args: [
      `--etcd-servers=${etcd.url}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      `--cert-dir=${folder}`,
      `--tls-cert-file=${certificateFile}`,
      `--tls-private-key-file=${keyFile}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-signing-key-file=${keyFile}`,
      `--service-account-key-file=${certificateFile}`,
      '--authorization-mode=RBAC',
      `--token-auth-file=${tokens}`,
      `--audit-policy-file=${policy}`,
      `--audit-log-path=${log}`,
      '--service-cluster-ip-range=10.0.0.0/24',
    ],
    ready: /Serving securely on/,
  });
  await server.start();
  // Asked to stop, it waits a minute for the requests that watch.
  stack.defer(() => server.kill());

  const send = async (method: string, path: string, body?: object): Promise<IncomingMessage> => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const outgoing = request(`${address}${path}`, {
      method,
      ca,
      headers: { authorization: `Bearer ${administrator}`, 'content-type': type },
    });
    outgoing.end(body && JSON.stringify(body));
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    if ((response.statusCode ?? 0) < 300) return response;
    const { statusCode = 0 } = response;
    throw new RefusedRequest(`${method} ${path}`, statusCode, await text(response));
  };
  const openWatch = async (path: string): Promise<IncomingMessage> => {
    for (;;) {
      try {
        return await send('GET', path);
      } catch (error) {
        if (!(error instanceof RefusedRequest && error.status === TOO_EARLY)) throw error;
        await pause(AGAIN_MS);
      }
    }
  };
  const isReady = (): Promise<boolean> =>
    send('GET', '/readyz').then(
      (response) => response.resume() !== undefined,
      () => false,
    );
  while (!(await isReady())) await pause(100);
  const owned = stack.move();
  return {
    address,
    authorityFile,
    call: async <T>(method: string, path: string, body?: object): Promise<T> =>
      JSON.parse(await text(await send(method, path, body))) as T,
    watch: async function* <T extends Versioned>(path: string): AsyncGenerator<Watched<T>> {
      let version = '';
      // The server may end a watch, and does so while its caches fill; clients go on from the newest version.
      for (;;) {
        const response = await openWatch(`${path}?watch=true&resourceVersion=${version}`);
        // The server is stopped while it is watched.
        response.on('error', () => undefined);
        for await (const line of createInterface({ input: response })) {
          const change = JSON.parse(line) as Watched<T> | WatchFault;
          if (change.type === 'ERROR') {
            version = '';
            await pause(AGAIN_MS);
            break;
          }
          version = change.object.metadata.resourceVersion;
          yield change;
        }
        response.destroy();
      }
    },
    apply: async (manifests) => {
      const kubectl = await findBinary('kubectl', 'kubectl');
      const access = [`--server=${address}`, `--certificate-authority=${authorityFile}`];
      const args = ['apply', '-k', manifests, `--token=${administrator}`, ...access];
      await run(kubectl, args, { env: { ...process.env, KUBECONFIG: '/dev/null' } });
    },
    audited: async () =>
      (await readFile(log, 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as AuditEntry)
        .filter(({ stage }) => stage !== 'RequestReceived')
        .map(({ verb, user, objectRef, responseStatus }) => ({
          user: user.username,
          asked: `${verb} ${objectRef?.resource}`,
          status: responseStatus?.code ?? 0,
        })),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
};
