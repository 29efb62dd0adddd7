/** The workspace service alone in this process, called as the gateway calls it. */

import { join } from 'node:path';
import { systemClock } from '@keelson/clock';
import { parseConfig } from '@keelson/config';
import { bufferedBody } from '@keelson/edge';
import { InProcessLeaseStore } from '@keelson/locks';
import { createLogger } from '@keelson/logging';
import { createRegistry } from '@keelson/metrics';
import { Dialect, type Principal } from '@keelson/proto/edge/v1/edge';
import { createBarrier, openSqliteStore, type Store } from '@keelson/storage';
import { composeWorkspace, WORKSPACE_PROJECTIONS } from '@keelson/workspace-service';
import { workspaceConfigSchema } from '@keelson/workspace-service/config';

/** The store, in the folder that is given. */
export const WORKSPACE_FILE = 'workspace.db';

interface Answer {
  readonly id: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface RawRequest {
  readonly method: string;
  /** Below /api/v2, without a query. */
  readonly path: string;
  readonly query: string;
  readonly body: Uint8Array;
  readonly contentType: string;
  /** Absent for requests without a token. */
  readonly principal?: Principal | undefined;
}

export interface InProcessWorkspaces {
  readonly store: Store;
  readonly admin: Principal;
  /** OpenAPI operations by path and method. */
  describe(): Promise<Readonly<Record<string, Readonly<Record<string, unknown>>>>>;
  /** Returns any response, without failing on errors. */
  send(request: RawRequest): Promise<{ readonly status: number; readonly text: string }>;
  /** As the administrator, unless a token is given. @returns the document's resource */
  call(method: string, path: string, body?: unknown, principal?: Principal): Promise<Answer>;
  /** Like `call` without parsing the response, because parsing is the client's work and is not measured. */
  ask(method: string, path: string, body?: unknown, principal?: Principal): Promise<void>;
  identify(token: string): Promise<Principal>;
  stop(): Promise<void>;
}

export const startWorkspaces = async (folder: string): Promise<InProcessWorkspaces> => {
  const barrier = createBarrier();
  const store = await openSqliteStore({
    file: join(folder, WORKSPACE_FILE),
    barrier,
    projections: WORKSPACE_PROJECTIONS,
  });
  const service = composeWorkspace({
    registry: createRegistry('test'),
    config: { ...parseConfig(workspaceConfigSchema, {}), workspaceRuntimeVersions: ['1.11.4'] },
    store,
    barrier,
    clock: systemClock,
    leases: new InProcessLeaseStore(),
    logger: createLogger({ name: 'bench', level: 'error' }),
    cluster: {
      join: async function* (_request, options) {
        yield {
          initialized: true,
          sealed: false,
          serviceKey: Buffer.alloc(32, 1),
          keyringTerm: 1,
          replicationRoles: [],
          clusterId: '',
          clusterName: '',
          unreadableMountUuids: [],
          formerServiceKeys: [],
          mounts: [],
        };
        await new Promise((resolve) => options?.signal?.addEventListener('abort', resolve));
      },
    },
  });
  await service.start();
  const identify = async (token: string): Promise<Principal> => {
    const { principal } = await service.identity.identify({ token });
    if (principal === undefined) throw new Error('the token is not known');
    return principal;
  };
  const admin = await identify((await service.ensureAdminToken()).token);
  const handle = async (request: RawRequest) => {
    const { method, path, query, body, contentType, principal } = request;
    const { head, body: answered } = await service.edge.handle({
      head: {
        requestId: 'bench',
        method,
        path,
        query,
        headers: { 'content-type': contentType },
        dialect: Dialect.SPECIFICATION,
        remoteAddress: '127.0.0.1',
        baseUrl: 'http://127.0.0.1',
        traceparent: '',
        namespace: undefined,
        mount: undefined,
        caller: undefined,
        principal,
      },
      body: bufferedBody(body),
      signal: new AbortController().signal,
    });
    const pieces: Uint8Array[] = [];
    if (answered instanceof Uint8Array) pieces.push(answered);
    else for await (const piece of answered) pieces.push(piece);
    return { status: head.status, pieces };
  };
  const toText = (pieces: readonly Uint8Array[]): string => Buffer.concat(pieces).toString();
  const answerOf = async (
    method: string,
    target: string,
    body: unknown,
    principal: Principal = admin,
  ): Promise<readonly Uint8Array[]> => {
    const [path = '', query = ''] = target.split('?');
    const { status, pieces } = await handle({
      method,
      path,
      query,
      body: body === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(body)),
      contentType: 'application/vnd.api+json',
      principal,
    });
    if (status >= 400) throw new Error(`${method} ${target} answered ${status}: ${toText(pieces)}`);
    return pieces;
  };
  return {
    store,
    admin,
    identify,
    describe: async () =>
      JSON.parse((await service.edge.describe()).pathsJson) as Record<
        string,
        Record<string, unknown>
      >,
    send: async (request) => {
      const { status, pieces } = await handle(request);
      return { status, text: toText(pieces) };
    },
    call: async (...given) => {
      const text = toText(await answerOf(...given));
      return text === '' ? { id: '', attributes: {} } : (JSON.parse(text) as { data: Answer }).data;
    },
    ask: async (...given) => {
      await answerOf(...given);
    },
    stop: async () => {
      await service.stop();
      await store.close();
    },
  };
};
