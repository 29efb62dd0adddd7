/** A certificate authority alone in this process, driven through the interface the gateway uses. */

import { join } from 'node:path';
import { systemClock } from '@keelson/clock';
import { parseConfig } from '@keelson/config';
import { bufferedBody } from '@keelson/edge';
import { InProcessLeaseStore } from '@keelson/locks';
import { createLogger } from '@keelson/logging';
import { createRegistry } from '@keelson/metrics';
import { composePki, PKI_PROJECTIONS } from '@keelson/pki-service';
import { pkiConfigSchema } from '@keelson/pki-service/config';
import { Dialect, type Mount } from '@keelson/proto/edge/v1/edge';
import { createBarrier, openBarrierFor, openSqliteStore, type Store } from '@keelson/storage';

const NAMESPACE = { id: 'root', path: '' };

export const AUTHORITY_MOUNT: Mount = {
  uuid: '8f0b1c1e-0000-4000-8000-000000000001',
  accessor: 'pki_1',
  type: 'pki',
  path: 'pki/',
  namespace: NAMESPACE,
  local: false,
  defaultLeaseTtlSeconds: 2_764_800,
  maxLeaseTtlSeconds: 315_360_000,
  passthroughRequestHeaders: [],
  allowedResponseHeaders: [],
  options: {},
  description: '',
  userLockout: undefined,
};

/** File of the store, in the given folder. */
export const AUTHORITY_FILE = 'pki.sqlite';

export interface AuthorityAnswer {
  readonly status: number;
  readonly body: Uint8Array;
  /** Last values by name. */
  readonly headers: ReadonlyMap<string, string>;
}

export interface InProcessAuthority {
  readonly store: Store;
  /** @param body JSON unless it is bytes already; nothing for a GET */
  send(
    method: string,
    path: string,
    body?: unknown,
    mount?: Mount,
    contentType?: string,
  ): Promise<AuthorityAnswer>;
  /** Like `send`, but returns the body and fails unless the status is 200. */
  call(method: string, path: string, body?: unknown, mount?: Mount): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** @param environment settings of the process */
export const openAuthority = async (
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<InProcessAuthority> => {
  const clock = systemClock;
  const barrier = createBarrier({ clock });
  const store = await openSqliteStore({
    file: join(folder, AUTHORITY_FILE),
    barrier,
    clock,
    projections: PKI_PROJECTIONS,
  });
  await openBarrierFor(store, barrier, new Uint8Array(32).fill(1));
  const pki = composePki({
    registry: createRegistry('test'),
    config: parseConfig(pkiConfigSchema, environment),
    store,
    barrier,
    leases: new InProcessLeaseStore({ clock }),
    clock,
    logger: createLogger({ name: 'pki', level: 'silent' }),
    cluster: {
      join: () => {
        throw new Error('not started');
      },
    },
    ledger: {
      register: () => Promise.reject(new Error('no leases here')),
      requireRoom: () => Promise.reject(new Error('no leases here')),
    },
    identities: { findValues: () => Promise.reject(new Error('no entities here')) },
    clientCertificates: {
      findRole: () => Promise.reject(new Error('no auth methods here')),
      judge: () => Promise.reject(new Error('no auth methods here')),
    },
  });

  const send = async (
    method: string,
    path: string,
    body: unknown = {},
    mount: Mount = AUTHORITY_MOUNT,
    contentType?: string,
  ): Promise<AuthorityAnswer> => {
    const [pathname = '', query = ''] = path.split('?');
    const isRaw = body instanceof Uint8Array;
    const bytes = isRaw ? body : Buffer.from(method === 'GET' ? '' : JSON.stringify(body));
    const answer = await pki.edge.handle({
      head: {
        requestId: 'bench',
        method,
        path: `/${pathname}`,
        query,
        headers: {
          'content-type': contentType ?? (isRaw ? 'application/octet-stream' : 'application/json'),
        },
        dialect: Dialect.SPECIFICATION,
        remoteAddress: '127.0.0.1',
        baseUrl: 'http://localhost',
        traceparent: '',
        namespace: NAMESPACE,
        mount,
        caller: undefined,
        principal: undefined,
      },
      body: bufferedBody(bytes),
      signal: new AbortController().signal,
    });
    if (!(answer.body instanceof Uint8Array)) throw new Error('unexpected stream');
    return {
      status: answer.head.status,
      body: answer.body,
      headers: new Map(answer.head.headers.map(({ name, value }) => [name, value])),
    };
  };

  // The service's threads do not keep a process alive that has nothing else to wait for.
  const held = setInterval(() => undefined, 60_000);
  return {
    store,
    send,
    call: async (method, path, body, mount) => {
      const answer = await send(method, path, body, mount);
      if (answer.status !== 200) throw new Error(`${path}: ${Buffer.from(answer.body).toString()}`);
      return answer.body;
    },
    close: async () => {
      clearInterval(held);
      await pki.stop();
      await store.close();
    },
  };
};
