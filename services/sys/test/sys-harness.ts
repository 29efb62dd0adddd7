/**
 * The sys service on a real store in a temporary folder, called the way the gateway calls it: Access.Resolve
 * first, then the edge, then wrapping.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '@keelson/clock';
import type { ReplicationTransport } from '@keelson/cluster-member';
import { parseConfig } from '@keelson/config';
import { bufferedBody, type EdgeResponse, toOpenApiDocument } from '@keelson/edge';
import { type ErrorCode, type ErrorParams, isSealed, KeelsonError } from '@keelson/errors';
import { InProcessLeaseStore } from '@keelson/locks';
import { createLogger } from '@keelson/logging';
import { createRegistry, type MetricsRegistry } from '@keelson/metrics';
import { Dialect } from '@keelson/proto/edge/v1/edge';
import type { EngineDefinition, RevokeLeaseRequest } from '@keelson/proto/engine/v1/engine';
import { type Resolution, type ResolveRequest, Surface } from '@keelson/proto/sys/v1/access';
import type { RpcService } from '@keelson/rpc';
import { renderSecretsError } from '@keelson/secrets-api';
import { createBarrier, openSqliteStore, type Store } from '@keelson/storage';
import { answerCheck } from '@keelson/testkit/described-answers';
import { composeSys, type SysService } from '../src/compose.ts';
import type { OtherServices } from '../src/compose-core.ts';
import { type SysConfig, sysConfigSchema } from '../src/config.ts';

/** Throws if an answer is not as the OpenAPI document describes it. */
const requireDescribed = answerCheck(toOpenApiDocument);

export interface SysRequest {
  readonly token?: string | undefined;
  readonly namespace?: string | undefined;
  readonly query?: string;
  /** Sent as JSON; a string or bytes are sent unchanged. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly wrapTtlSeconds?: number;
  readonly wrapFormat?: 'jwt';
  readonly dialect?: Dialect;
  readonly remoteAddress?: string;
  /** A name, a colon and a password, as Basic authentication has them. */
  readonly credentials?: string;
}

// oxlint-disable-next-line typescript/no-explicit-any -- documents are asserted on, not typed
export type Document = any;

interface SysAnswer {
  readonly status: number;
  readonly body: Document;
}

/** An engine that records revocations, and fails while `refusing`. */
class RecordingEngine implements RpcService<typeof EngineDefinition> {
  readonly revoked: RevokeLeaseRequest[] = [];
  refusing = false;

  revokeLease = async (request: RevokeLeaseRequest): Promise<object> => {
    if (this.refusing) throw new Error('out of order');
    this.revoked.push(request);
    return {};
  };
}

export interface SysHarness {
  readonly sys: SysService;
  readonly store: Store;
  readonly barrier: ReturnType<typeof createBarrier>;
  readonly clock: ManualClock;
  readonly registry: MetricsRegistry;
  readonly folder: string;
  /** Serves the engine type "sample" of the service "sample". */
  readonly engine: RecordingEngine;
  /** The decision of Access, which receives the body if it asks for it. */
  readonly resolve: (method: string, path: string, request?: SysRequest) => Promise<Resolution>;
  readonly call: (method: string, path: string, request?: SysRequest) => Promise<SysAnswer>;
  /** Calls with the root token of `initialize`. */
  readonly asRoot: (method: string, path: string, request?: SysRequest) => Promise<SysAnswer>;
  /** Creates a token with these policies, as the root token. */
  readonly createToken: (policies: readonly string[], namespace?: string) => Promise<string>;
  /** Creates a namespace and returns its id. */
  readonly createNamespace: (path: string) => Promise<string>;
  /** Runs one kind of periodic work until nothing is left to do. */
  readonly settle: (work: string) => Promise<void>;
  /** Performs a first start with one share. */
  readonly initialize: () => Promise<{ rootToken: string; key: string }>;
  close(): Promise<void>;
}

export interface SysHarnessOptions {
  readonly config?: Partial<SysConfig>;
  readonly clock?: ManualClock;
  readonly transport?: ReplicationTransport;
  readonly newStores?: readonly string[];
  /** "postgresql" when replicas share the store. */
  readonly storageType?: string;
  /** The service of auth methods. */
  readonly authMethods?: OtherServices['authMethods'];
  /** Opens the store; default: SQLite in the harness's folder. */
  readonly openStore?: (
    barrier: ReturnType<typeof createBarrier>,
    folder: string,
    clock: ManualClock,
  ) => Promise<Store>;
}

const logger = createLogger({ name: 'test', level: 'silent' });

const bodyBytes = (body: unknown): Uint8Array => {
  if (body === undefined) return new Uint8Array(0);
  if (body instanceof Uint8Array) return body;
  return new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
};

const readAll = async (body: EdgeResponse['body']): Promise<Buffer> => {
  if (body instanceof Uint8Array) return Buffer.from(body);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const contentTypeOf = (method: string, { contentType }: SysRequest): string =>
  contentType ?? (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');

/** Announces the engine type "sample" as its service does. */
export const joinSample = async ({ cluster }: SysService): Promise<void> => {
  const states = cluster.join({
    service: 'sample',
    instanceId: 'one',
    version: '1',
    storeId: '',
    engines: [{ type: 'sample', unauthenticatedPaths: ['ca'], rootPaths: ['root'] }],
  });
  for await (const state of states) if (!state.sealed) return;
};

export const openSysHarness = async (options: SysHarnessOptions = {}): Promise<SysHarness> => {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-sys-'));
  const clock = options.clock ?? new ManualClock();
  const barrier = createBarrier({ clock });
  const store = await (options.openStore?.(barrier, folder, clock) ??
    openSqliteStore({ file: join(folder, 'sys.sqlite'), barrier, clock }));
  const leases = new InProcessLeaseStore({ clock });
  const engine = new RecordingEngine();
  let rootToken = '';
  const registry = createRegistry('test');
  const sys = composeSys({
    registry,
    config: { ...parseConfig(sysConfigSchema, {}), clusterName: 'test', ...options.config },
    store,
    barrier,
    leases,
    clock,
    logger,
    newStores: options.newStores ?? [],
    transport: options.transport,
    storageType: options.storageType ?? 'sqlite',
  }).serve({
    engines: new Map([['sample', engine]]),
    replicas: new Map(),
    ...(options.authMethods && { authMethods: options.authMethods }),
  });

  const questionOf = (method: string, path: string, request: SysRequest): ResolveRequest => ({
    surface: Surface.V1,
    token: request.token ?? '',
    namespace: request.namespace ?? '',
    path,
    method,
    remoteAddress: request.remoteAddress ?? '127.0.0.1',
    wrapTtlSeconds: request.wrapTtlSeconds ?? 0,
    wrapFormat: request.wrapFormat ?? '',
    body: Buffer.alloc(0),
    hasBody: false,
    bodyFollows: false,
    requestId: 'request',
    contentType: contentTypeOf(method, request),
    query: request.query ?? '',
    index: '',
    clientCertificates: [],
  });

  const resolve = async (
    method: string,
    path: string,
    request: SysRequest = {},
  ): Promise<Resolution> => {
    const question = questionOf(method, path, request);
    const resolution = await sys.access.resolve(question);
    if (resolution.outcome?.$case !== 'needsBody') return resolution;
    const body = Buffer.from(bodyBytes(request.body));
    return sys.access.resolve({ ...question, hasBody: true, body });
  };

  const render = async (error: KeelsonError): Promise<SysAnswer> => {
    const { head, body } = renderSecretsError(error);
    return { status: head.status, body: JSON.parse((await readAll(body)).toString()) };
  };

  const answer = async (method: string, path: string, request: SysRequest): Promise<SysAnswer> => {
    const { outcome } = await resolve(method, path, request);
    if (outcome?.$case === 'refused') {
      const { code, detailsJson } = outcome.value;
      return render(new KeelsonError(code as ErrorCode, JSON.parse(detailsJson) as ErrorParams));
    }
    if (outcome?.$case !== 'allowed') throw new Error(`unexpected ${outcome?.$case}`);
    const { value: allowed } = outcome;
    if (allowed.service !== 'sys') return { status: 0, body: { service: allowed.service } };
    const response = await sys.edge.handle({
      head: {
        requestId: 'request',
        method,
        path: allowed.path,
        query: request.query ?? '',
        headers: {
          'content-type': contentTypeOf(method, request),
          ...(allowed.passToken && { 'x-presented-token': request.token ?? '' }),
          ...(allowed.passCredentials && {
            'x-presented-credentials': Buffer.from(request.credentials ?? '').toString('base64'),
          }),
        },
        dialect: request.dialect ?? Dialect.SPECIFICATION,
        remoteAddress: request.remoteAddress ?? '127.0.0.1',
        baseUrl: 'http://keelson.test',
        traceparent: '',
        namespace: allowed.namespace,
        mount: allowed.mount,
        caller: allowed.caller,
        principal: undefined,
      },
      body: bufferedBody(bodyBytes(request.body)),
      signal: new AbortController().signal,
    });
    const bytes = await readAll(response.body);
    const answered = response.head.headers.find(({ name }) => name === 'content-type')?.value ?? '';
    if (answered === 'application/gzip') return { status: response.head.status, body: bytes };
    const text = bytes.toString();
    if (answered.startsWith('text/plain')) return { status: response.head.status, body: text };
    await requireDescribed(sys.edge, {
      method,
      path: allowed.path,
      query: request.query ?? '',
      status: response.head.status,
      contentType: answered,
      body: text,
    });
    const body: Document = text === '' ? undefined : JSON.parse(text);
    const ttlSeconds = request.wrapTtlSeconds ?? 0;
    if (ttlSeconds > 0 && response.head.status === 200) {
      const info = await sys.access.wrap({
        ttlSeconds,
        response: Buffer.from(text),
        creationPath: path,
        namespace: allowed.namespace,
        wrappedAccessor: body?.auth?.accessor ?? '',
        wrapFormat: request.wrapFormat ?? '',
        apiAddress: 'https://keelson.test',
      });
      return { status: 200, body: { wrap_info: info } };
    }
    return { status: response.head.status, body };
  };
  /** Renders what the gateway renders: refusals of a sealed replica are thrown. */
  const call = async (
    method: string,
    path: string,
    request: SysRequest = {},
  ): Promise<SysAnswer> => {
    try {
      return await answer(method, path, request);
    } catch (error) {
      if (isSealed(error)) return render(error);
      throw error;
    }
  };
  const asRoot: SysHarness['asRoot'] = (method, path, request) =>
    call(method, path, { ...request, token: rootToken });

  return {
    sys,
    store,
    barrier,
    clock,
    registry,
    folder,
    engine,
    resolve,
    call,
    asRoot,
    createToken: async (policies, namespace) => {
      const body = { policies, no_parent: true };
      const answer = await asRoot('POST', 'auth/token/create', { body, namespace });
      return answer.body.auth.client_token;
    },
    createNamespace: async (path) => (await asRoot('POST', `sys/namespaces/${path}`)).body.data.id,
    settle: async (work) => {
      while (await sys.periodicWork[work]?.round({}));
    },
    initialize: async () => {
      const made = await sys.seal.initialize({ shares: 1, threshold: 1 });
      rootToken = made.rootToken;
      await joinSample(sys);
      return { rootToken, key: made.keys[0] ?? '' };
    },
    close: async () => {
      await sys.stop();
      await leases.close();
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** An initialized harness, so that `asRoot` has its token. */
export const openInitializedSys = async (options: SysHarnessOptions = {}): Promise<SysHarness> => {
  const harness = await openSysHarness(options);
  await harness.initialize();
  return harness;
};
