/** A service with mounts, driven in tests through the interfaces that the gateway and sys use. */
import { EventEmitter, on } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { bufferedBody, type EdgeService, toOpenApiDocument } from '@keelson/edge';
import { type Caller, Dialect, type Mount } from '@keelson/proto/edge/v1/edge';
import type { ClusterDefinition, ClusterState } from '@keelson/proto/sys/v1/cluster';
import type { RpcService } from '@keelson/rpc';
import { answerCheck } from '@keelson/testkit/described-answers';

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
  /** A root token when absent. */
  readonly caller?: Caller;
  readonly remoteAddress?: string;
}

export const ROOT_NAMESPACE = { id: 'root', path: '' };

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
  userLockout: undefined,
  ...changes,
});

const ROOT_CALLER: Caller = {
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
};

const toBytes = (body: unknown): Buffer => {
  if (Buffer.isBuffer(body)) return body;
  return body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body));
};

/**
 * Sends a request for a mount to a service, and compares the answer with the OpenAPI document.
 * @param describedAt path of the mount in the document: "/mount"
 */
export const callMount = async (
  edge: EdgeService,
  describedAt: string,
  [method, path, body]: readonly [method: string, path: string, body?: unknown],
  options: CallOptions & { readonly mount: Mount },
): Promise<Answer> => {
  const [pathname = '', query = ''] = path.split('?');
  const { head, body: answered } = await edge.handle({
    head: {
      requestId: 'request-1',
      method,
      path: `/${pathname}`,
      query,
      headers: { 'content-type': options.contentType ?? 'application/json', ...options.headers },
      dialect: options.vendor ? Dialect.VENDOR : Dialect.SPECIFICATION,
      remoteAddress: options.remoteAddress ?? '127.0.0.1',
      baseUrl: 'http://localhost',
      traceparent: '',
      namespace: ROOT_NAMESPACE,
      mount: options.mount,
      caller: options.caller ?? ROOT_CALLER,
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
  await requireDescribed(edge, {
    method,
    path: `${describedAt}/${pathname}`,
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

/** A cluster whose states a test announces. */
export const announcedCluster = () => {
  const states = new EventEmitter();
  const rpc: RpcService<typeof ClusterDefinition> = {
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
  };
  return {
    rpc,
    /** @param applied called once the service has followed the state */
    announce: (state: ClusterState, applied?: () => void) => states.emit('state', state, applied),
    /** Announces a state to a service that has started, and waits until it is followed. */
    join: async (state: ClusterState): Promise<void> => {
      while (states.listenerCount('state') === 0) await setImmediate();
      await new Promise<void>((applied) => void states.emit('state', state, applied));
    },
  };
};
