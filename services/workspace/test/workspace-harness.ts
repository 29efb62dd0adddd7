/** The whole service on a separate store, called as the gateway calls it. */

import { join } from 'node:path';
import { ManualClock } from '@keelson/clock';
import { parseConfig } from '@keelson/config';
import { bufferedBody, toOpenApiDocument } from '@keelson/edge';
import { InProcessLeaseStore, type LeaseStore } from '@keelson/locks';
import { createLogger } from '@keelson/logging';
import { createRegistry, type MetricsRegistry } from '@keelson/metrics';
import { Dialect, RequestHead, type ResponseHead } from '@keelson/proto/edge/v1/edge';
import { messageOf } from '@keelson/proto/message';
import { createBarrier, openSqliteStore, readableOnly, type Store } from '@keelson/storage';
import { openPostgresStore } from '@keelson/storage/postgres';
import { temporaryDirectory } from '@keelson/testkit';
import { answerCheck } from '@keelson/testkit/described-answers';
import { composeWorkspace, WORKSPACE_PROJECTIONS, type WorkspaceService } from '../src/compose.ts';
import { type WorkspaceConfig, workspaceConfigSchema } from '../src/config.ts';
import type { WorkspaceLimits } from '../src/limits.ts';

/** Where others reach the service. */
export const PUBLIC_URL = 'https://keelson.example';

/** The address in the Host header of every request: for its caller and nobody else. */
export const REQUESTED_URL = 'https://keelson.internal.example';

/** Throws if an answer is not as the OpenAPI document describes it. */
export const requireDescribed = answerCheck(toOpenApiDocument);

export interface Identified {
  readonly id: string;
  readonly type: string;
  readonly attributes: Record<string, unknown>;
  readonly relationships: Record<string, { data: unknown }>;
  readonly links: Record<string, string | null>;
}

export interface Reply {
  readonly status: number;
  /** Target of a redirection. */
  readonly location: string | undefined;
  /** The document's resource. */
  readonly data: Identified;
  readonly list: readonly Identified[];
  readonly included: readonly Identified[];
  readonly meta: {
    readonly pagination: Record<string, number | null>;
    readonly warnings?: readonly string[];
    readonly 'status-counts'?: Record<string, unknown>;
  };
  readonly links: Record<string, string | null>;
  readonly errors: readonly {
    readonly status: string;
    readonly title: string;
    readonly detail: string;
    readonly source?: { readonly pointer: string; readonly parameter?: string };
  }[];
}

export interface Transferred {
  readonly status: number;
  readonly text: string;
  readonly bytes: Buffer;
}

export interface Harness extends AsyncDisposable {
  readonly service: WorkspaceService;
  readonly store: Store;
  readonly clock: ManualClock;
  readonly registry: MetricsRegistry;
  readonly adminToken: string;
  /** @param headers further ones, their names in lower case */
  call(
    method: string,
    target: string,
    body?: unknown,
    token?: string | null,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Reply>;
  /** Sends a request to a signed address as clients do: without a token, with raw bytes. */
  transfer(method: string, address: string, bytes?: Uint8Array): Promise<Transferred>;
  /** One round of each kind of background work, repeated while there is more to do. */
  runUpkeep(): Promise<void>;
  /** Creates and returns the resource; fails the test when it is refused. */
  create(target: string, type: string, attributes: object, extra?: object): Promise<Identified>;
  /** A user with a token, on these teams. */
  addUser(name: string, ...teamIds: readonly string[]): Promise<{ id: string; token: string }>;
}

export interface HarnessOptions {
  /** A PostgreSQL database, which several replicas may share; SQLite in a temporary folder if absent. */
  readonly connectionString?: string;
  /** The site's default for new workspaces. */
  readonly globalRemoteState?: boolean;
  /** Settings other than the defaults. */
  readonly config?: Partial<WorkspaceConfig>;
  /** Limits other than the defaults. */
  readonly limits?: Partial<WorkspaceLimits>;
  /** Another holder has all leases if absent: rounds run in `runUpkeep` and at no other time. */
  readonly leases?: LeaseStore;
  /** The administrator's token as another replica made it. */
  readonly adminToken?: string;
}

/** With organizations of these names. */
export const startHarnessOf = async (...organizations: readonly string[]): Promise<Harness> => {
  const harness = await startHarness();
  for (const name of organizations)
    await harness.create('/organizations', 'organizations', { name, email: 'a@b.example' });
  return harness;
};

/**
 * Others are shown records, or sent them: no test of the service may leave the Host header of a request in
 * one.
 */
const requireNoRequestedUrl = async (store: Store): Promise<void> => {
  for (const { path, value } of await readableOnly(store).scan(''))
    if (Buffer.from(value).includes(REQUESTED_URL))
      throw new Error(`${path} holds the Host header of a request`);
};

const headerOf = ({ headers }: ResponseHead, wanted: string): string | undefined =>
  headers.find(({ name }) => name === wanted)?.value;

/** A body of JSON, or bytes as they are. */
const toBytes = (body: unknown): Uint8Array => {
  if (body instanceof Uint8Array) return body;
  return body === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(body));
};

export const startHarness = async (options: HarnessOptions = {}): Promise<Harness> => {
  const folder = await temporaryDirectory();
  const clock = new ManualClock();
  const barrier = createBarrier();
  const { connectionString } = options;
  const parts = { barrier, clock, projections: WORKSPACE_PROJECTIONS };
  const store =
    connectionString === undefined
      ? await openSqliteStore({ ...parts, file: join(folder.path, 'workspace.db') })
      : await openPostgresStore({ ...parts, connectionString });
  const leases = options.leases ?? new InProcessLeaseStore({ clock });
  const registry = createRegistry('test');
  const service = composeWorkspace({
    registry,
    config: {
      ...parseConfig(workspaceConfigSchema, {}),
      workspaceRuntimeVersions: ['1.11.4', '1.10.5', '1.5.7'],
      publicUrl: PUBLIC_URL,
      workspaceGlobalRemoteState: options.globalRemoteState ?? false,
      ...options.config,
    },
    limits: options.limits,
    store,
    barrier,
    clock,
    leases,
    logger: createLogger({ name: 'test', level: 'silent' }),
    cluster: {
      join: async function* (_request, call) {
        yield {
          initialized: true,
          sealed: false,
          serviceKey: Buffer.alloc(32, 7),
          keyringTerm: 1,
          replicationRoles: [],
          clusterId: 'c',
          clusterName: 'c',
          unreadableMountUuids: [],
          formerServiceKeys: [],
          mounts: [],
        };
        await new Promise((resolve) => call?.signal?.addEventListener('abort', resolve));
      },
    },
  });
  if (options.leases === undefined) {
    for (const name of Object.keys(service.periodicWork))
      await leases.tryAcquire(`workspace/${name}`, { ttlMs: Number.POSITIVE_INFINITY });
  }
  await service.start();
  const adminToken = options.adminToken ?? (await service.ensureAdminToken()).token;

  const send: Harness['call'] = async (method, target, body, token = adminToken, headers = {}) => {
    const { principal } =
      token === null ? { principal: undefined } : await service.identity.identify({ token });
    const at = target.indexOf('?');
    const path = at < 0 ? target : target.slice(0, at);
    const query = at < 0 ? '' : target.slice(at + 1);
    const response = await service.edge.handle({
      head: {
        requestId: 'req',
        method,
        path,
        query,
        headers: { 'content-type': 'application/vnd.api+json', ...headers },
        dialect: Dialect.SPECIFICATION,
        remoteAddress: '127.0.0.1',
        baseUrl: REQUESTED_URL,
        traceparent: '',
        namespace: undefined,
        mount: undefined,
        caller: undefined,
        principal,
      },
      body: bufferedBody(toBytes(body)),
      signal: new AbortController().signal,
    });
    const bytes = Buffer.from(response.body as Uint8Array);
    await requireDescribed(service.edge, {
      method,
      path,
      query,
      status: response.head.status,
      contentType: headerOf(response.head, 'content-type') ?? '',
      body: bytes.toString(),
    });
    const document = (bytes.length === 0 ? {} : JSON.parse(bytes.toString())) as Record<
      string,
      never
    >;
    const data = document['data'] as unknown;
    return {
      status: response.head.status,
      location: headerOf(response.head, 'location'),
      data: data as Identified,
      list: Array.isArray(data) ? (data as Identified[]) : [],
      included: document['included'] ?? [],
      meta: document['meta'] as never,
      links: document['links'] as never,
      errors: document['errors'] ?? [],
    };
  };

  const create: Harness['create'] = async (target, type, attributes, extra = {}) => {
    const reply = await send('POST', target, { data: { type, attributes, ...extra } });
    if (reply.status !== 201 && reply.status !== 200)
      throw new Error(`${target}: ${JSON.stringify(reply.errors)}`);
    return reply.data;
  };

  return {
    service,
    store,
    clock,
    registry,
    adminToken,
    call: send,
    transfer: async (method, address, sent = new Uint8Array()) => {
      const { pathname, search } = new URL(address);
      const response = await service.edge.handle({
        head: messageOf(RequestHead, {
          requestId: 'req',
          method,
          path: pathname.slice('/api/v2'.length),
          query: search.slice(1),
        }),
        body: bufferedBody(sent),
        signal: new AbortController().signal,
      });
      const pieces = response.body instanceof Uint8Array ? [response.body] : response.body;
      const received: Uint8Array[] = [];
      for await (const piece of pieces) received.push(piece);
      const bytes = Buffer.concat(received);
      await requireDescribed(service.edge, {
        method,
        path: pathname.slice('/api/v2'.length),
        query: search.slice(1),
        status: response.head.status,
        contentType: headerOf(response.head, 'content-type') ?? '',
        body: bytes.toString(),
      });
      return { status: response.head.status, text: bytes.toString(), bytes };
    },
    runUpkeep: async () => {
      for (const work of Object.values(service.periodicWork)) while (await work.round({}));
    },
    create,
    addUser: async (name, ...teamIds) => {
      const user = await create('/admin/users', 'users', {
        username: name,
        email: `${name}@keelson.example`,
      });
      for (const teamId of teamIds) {
        const members = { data: [{ type: 'users', id: name }] };
        await send('POST', `/teams/${teamId}/relationships/users`, members);
      }
      const tokens = `/users/${user.id}/authentication-tokens`;
      const made = await create(tokens, 'authentication-tokens', {});
      return { id: user.id, token: String(made.attributes['token']) };
    },
    [Symbol.asyncDispose]: async () => {
      await service.stop();
      if (!barrier.isSealed) await requireNoRequestedUrl(store);
      await store.close();
      await folder[Symbol.asyncDispose]();
    },
  };
};
