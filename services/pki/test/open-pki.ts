/** The whole service on a store in a temporary folder, driven through the interface the gateway uses. */

import { EventEmitter, on } from 'node:events';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ManualClock } from '@keelson/clock';
import { parseConfig } from '@keelson/config';
import { bufferedBody, toOpenApiDocument } from '@keelson/edge';
import { InProcessLeaseStore } from '@keelson/locks';
import { createLogger } from '@keelson/logging';
import { createRegistry } from '@keelson/metrics';
import { type Caller, Dialect, type Mount } from '@keelson/proto/edge/v1/edge';
import type { ClusterState, RegisterLeaseRequest } from '@keelson/proto/sys/v1/cluster';
import { createBarrier, openBarrierFor, openSqliteStore } from '@keelson/storage';
import { answerCheck } from '@keelson/testkit/described-answers';
import { composePki, PKI_PROJECTIONS, type PkiParts, type PkiService } from '../src/compose.ts';
import { pkiConfigSchema } from '../src/config.ts';

/** Throws if an answer is not as the OpenAPI document describes it. */
const requireDescribed = answerCheck(toOpenApiDocument);

export interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly bytes: Buffer;
  /** Sizes of the pieces in which the body came. */
  readonly pieces: readonly number[];
  // oxlint-disable-next-line typescript/no-explicit-any -- documents are asserted on, not typed
  readonly json: any;
  // oxlint-disable-next-line typescript/no-explicit-any -- the same
  readonly data: any;
}

export interface CallOptions {
  readonly vendor?: boolean;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly mount?: Mount;
  /** A replica; the first service when absent. */
  readonly service?: PkiService;
  /** A root token when absent. */
  readonly caller?: Caller;
}

export const ROOT_NAMESPACE = { id: 'root', path: '' };
const ROOT_KEY = Buffer.alloc(32, 7);

export const aMount = (changes: Partial<Mount> = {}): Mount => ({
  uuid: '8f0b1c1e-0000-4000-8000-000000000001',
  accessor: 'pki_1',
  type: 'pki',
  path: 'pki/',
  namespace: ROOT_NAMESPACE,
  local: false,
  defaultLeaseTtlSeconds: 2_764_800,
  maxLeaseTtlSeconds: 315_360_000,
  passthroughRequestHeaders: [],
  allowedResponseHeaders: [],
  options: {},
  description: '',
  ...changes,
});

/** Certificates are checked by tools that read the real clock. */
const startOfTest = Math.floor(Date.now() / 1000) * 1000;

const toBytes = (body: unknown): Buffer => {
  if (Buffer.isBuffer(body)) return body;
  return body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body));
};

/**
 * @param environment settings of the process
 * @param options `hasReplicas`: others may serve from the same store (`openReplica`)
 */
export const openPki = async (
  folder: string,
  environment: Readonly<Record<string, string>> = {},
  { hasReplicas, openOrderLimits }: Pick<PkiParts, 'hasReplicas' | 'openOrderLimits'> = {},
) => {
  const clock = new ManualClock(startOfTest);
  const barrier = createBarrier();
  const store = await openSqliteStore({
    file: join(folder, 'pki.sqlite'),
    barrier,
    clock,
    projections: PKI_PROJECTIONS,
  });
  const leases = new InProcessLeaseStore({ clock });
  const registered: RegisterLeaseRequest[] = [];
  const states = new EventEmitter();
  const compose = (settings = environment) =>
    composePki({
      registry: createRegistry('test'),
      ...(hasReplicas && { hasReplicas }),
      openOrderLimits,
      config: parseConfig(pkiConfigSchema, settings),
      store,
      barrier,
      leases,
      clock,
      logger: createLogger({ name: 'pki', level: 'silent' }),
      cluster: {
        join: async function* (_, { signal } = {}) {
          try {
            for await (const [state, applied] of on(states, 'state', signal && { signal })) {
              yield state as ClusterState;
              // The caller that requests the next page has finished with this one.
              (applied as (() => void) | undefined)?.();
            }
          } catch (error) {
            if (!signal?.aborted) throw error;
          }
        },
      },
      ledger: {
        register: async (request) => {
          registered.push(request);
          return {
            leaseId: `pki/${request.requestPath}/1`,
            ttlSeconds: request.ttlSeconds,
            renewable: false,
          };
        },
      },
    });
  const service = compose();
  await openBarrierFor(store, barrier, ROOT_KEY);
  const mount = aMount();

  const call = async (
    method: string,
    path: string,
    body?: unknown,
    options: CallOptions = {},
  ): Promise<Answer> => {
    const [pathname = '', query = ''] = path.split('?');
    const { head, body: answered } = await (options.service ?? service).edge.handle({
      head: {
        requestId: 'request-1',
        method,
        path: `/${pathname}`,
        query,
        headers: {
          'content-type': options.contentType ?? 'application/json',
          ...options.headers,
        },
        dialect: options.vendor ? Dialect.VENDOR : Dialect.SPECIFICATION,
        remoteAddress: '127.0.0.1',
        baseUrl: 'http://localhost',
        traceparent: '',
        namespace: ROOT_NAMESPACE,
        mount: options.mount ?? mount,
        caller: options.caller ?? {
          accessor: 'accessor',
          tokenHash: 'hash',
          displayName: 'token',
          policies: ['root'],
          metadata: {},
          entityId: '',
          namespace: ROOT_NAMESPACE,
          root: true,
          sudo: true,
          tokenType: 'service',
          expiresAtEpochSeconds: 0n,
        },
        principal: undefined,
      },
      body: bufferedBody(toBytes(body)),
      signal: new AbortController().signal,
    });
    const chunks: Uint8Array[] = [];
    if (answered instanceof Uint8Array) chunks.push(answered);
    else for await (const chunk of answered) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const headers = new Map(head.headers.map(({ name, value }) => [name, value]));
    await requireDescribed(service.edge, {
      method,
      path: `/mount/${pathname}`,
      query,
      status: head.status,
      contentType: headers.get('content-type') ?? '',
      body: bytes.toString(),
    });
    const isJson = bytes.length > 0 && headers.get('content-type') === 'application/json';
    const json = isJson ? JSON.parse(bytes.toString()) : undefined;
    const pieces = chunks.map(({ byteLength }) => byteLength);
    return { status: head.status, headers, bytes, pieces, json, data: json?.data };
  };

  return {
    call,
    clock,
    store,
    leases,
    barrier,
    mount,
    service,
    /** Another service on the same store, with the same settings unless others are given. */
    openReplica: (settings?: Readonly<Record<string, string>>) => ({
      service: compose(settings),
      mount,
    }),
    registered,
    /** @param applied called once the service has followed the state */
    announce: (state: ClusterState, applied?: () => void) => states.emit('state', state, applied),
    /** Starts the service as a member of a cluster in this state. */
    join: async (state: ClusterState): Promise<void> => {
      await service.start();
      while (states.listenerCount('state') === 0) await setImmediate();
      await new Promise<void>((applied) => void states.emit('state', state, applied));
    },
    close: async () => {
      await service.stop();
      await store.close();
    },
  };
};

export type OpenPki = Awaited<ReturnType<typeof openPki>>;
