/** A definition served and called over a real loopback connection. */

import { KeelsonError } from '@keelson/errors';
import { Principal } from '@keelson/proto/edge/v1/edge';
import { messageOf } from '@keelson/proto/message';
import { ClusterDefinition, ClusterState } from '@keelson/proto/sys/v1/cluster';
import { IdentifyResponse, IdentityDefinition } from '@keelson/proto/workspace/v1/identity';
import { stubService } from '@keelson/testkit';
import { afterEach, describe, expect, test } from 'vitest';
import { implementService } from './registration.ts';
import { createRpcClient } from './rpc-client.ts';
import { createRpcServer, type RpcServer } from './rpc-server.ts';
import type { CallOptions, RpcService } from './rpc-service.ts';

type Identity = RpcService<typeof IdentityDefinition>;
type Cluster = RpcService<typeof ClusterDefinition>;

const open: { stop?(graceMs?: number): Promise<void>; close?(): void }[] = [];
const remember = <T extends (typeof open)[number]>(one: T): T => {
  open.push(one);
  return one;
};

afterEach(async () => {
  for (const one of open.splice(0).reverse()) {
    one.close?.();
    await one.stop?.(0);
  }
});

const serve = async (services: Parameters<typeof createRpcServer>[0]['services']) =>
  remember(await createRpcServer({ address: '127.0.0.1:0', services }));

const identityClient = (...servers: RpcServer[]) =>
  remember(
    createRpcClient(IdentityDefinition, {
      address: servers.map(({ port }) => `127.0.0.1:${port}`),
      service: 'workspace',
    }),
  );

const answering = (identify: Identity['identify']) =>
  implementService(IdentityDefinition, stubService<Identity>({ identify }));

const principalOf = (token: string): IdentifyResponse =>
  messageOf(IdentifyResponse, { principal: messageOf(Principal, { kind: 'user', id: token }) });

const untilCancelled = (options?: CallOptions): Promise<never> =>
  new Promise((_, reject) => {
    options?.signal?.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
  });

describe('a unary call', () => {
  test('returns the result of the implementation', async () => {
    const server = await serve([answering(({ token }) => Promise.resolve(principalOf(token)))]);
    const answer = await identityClient(server).identify({ token: 'ä-token' });
    expect(answer).toEqual(principalOf('ä-token'));
  });

  test('returns an error with code and parameters, never its cause', async () => {
    const refusal = new KeelsonError(
      'request.too_large',
      { limitBytes: 7 },
      { cause: new Error('secret') },
    );
    const server = await serve([answering(() => Promise.reject(refusal))]);
    const error = await identityClient(server)
      .identify({ token: '' })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'request.too_large', params: { limitBytes: 7 } });
    expect(JSON.stringify(error)).not.toContain('secret');
    expect((error as Error).cause).toBeUndefined();
  });

  test('waits for a replica that is started again', async () => {
    const services = [answering(({ token }) => Promise.resolve(principalOf(token)))];
    const former = await serve(services);
    const client = identityClient(former);
    await client.identify({ token: 'u' });
    await former.stop(0);
    const unreachable = await client.identify({ token: 'u' }, { timeoutMs: 1 }).catch((e) => e);
    expect(unreachable).toBeInstanceOf(KeelsonError);
    const waiting = Array.from({ length: 20 }, () => client.identify({ token: 'u' }));
    const address = `127.0.0.1:${former.port}`;
    remember(await createRpcServer({ address, services }));
    expect(new Set(await Promise.all(waiting))).toEqual(
      new Set(waiting.map(() => principalOf('u'))),
    );
  });

  test.each(['storage.superseded', 'sys.sealed'] as const)(
    'is repeated by another replica if the first refuses it with %s',
    async (code) => {
      let refusals = 0;
      const former = await serve([
        answering(() => {
          refusals += 1;
          return Promise.reject(new KeelsonError(code));
        }),
      ]);
      const current = await serve([answering(({ token }) => Promise.resolve(principalOf(token)))]);
      const client = identityClient(former, current);
      for (let call = 0; call < 8; call += 1)
        expect(await client.identify({ token: 'u' })).toEqual(principalOf('u'));
      expect(refusals).toBeGreaterThan(0);
    },
  );

  test('is refused at once if all replicas are sealed', async () => {
    let refusals = 0;
    const sealed = () =>
      answering(() => {
        refusals += 1;
        return Promise.reject(new KeelsonError('sys.sealed'));
      });
    const client = identityClient(await serve([sealed()]), await serve([sealed()]));
    await expect(client.identify({ token: 'u' })).rejects.toMatchObject({ code: 'sys.sealed' });
    expect(refusals).toBe(3);
  });

  test('turns a bug into `internal` and reports it on the serving side', async () => {
    const reported: unknown[] = [];
    const bug = new Error('a bug');
    const server = await serve([
      implementService(
        IdentityDefinition,
        stubService<Identity>({ identify: () => Promise.reject(bug) }),
        { report: (error, method) => reported.push(error, method) },
      ),
    ]);
    await expect(identityClient(server).identify({ token: '' })).rejects.toMatchObject({
      code: 'internal',
      message: 'internal error',
    });
    expect(reported).toEqual([bug, 'keelson.workspace.v1.Identity/Identify']);
  });

  test('ends with its deadline and cancels the implementation', async () => {
    const stopped = Promise.withResolvers<void>();
    const server = await serve([
      answering((_, options) => untilCancelled(options).finally(() => stopped.resolve())),
    ]);
    const call = identityClient(server).identify({ token: '' }, { timeoutMs: 50 });
    await expect(call).rejects.toMatchObject({ code: 'request.deadline_exceeded' });
    await stopped.promise;
  });

  test('is cancelled by the caller', async () => {
    const started = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<void>();
    const server = await serve([
      answering((_, options) => {
        started.resolve();
        return untilCancelled(options).finally(() => stopped.resolve());
      }),
    ]);
    const controller = new AbortController();
    const call = identityClient(server).identify({ token: '' }, { signal: controller.signal });
    await Promise.all([
      expect(call).rejects.toMatchObject({ code: 'request.cancelled' }),
      started.promise.then(() => controller.abort()),
    ]);
    await stopped.promise;
  });

  test('fails with `edge.backend_unavailable` when nothing listens', async () => {
    const server = await serve([answering(() => Promise.resolve(principalOf('a')))]);
    const client = identityClient(server);
    await server.stop(0);
    await expect(client.identify({ token: '' })).rejects.toMatchObject({
      code: 'edge.backend_unavailable',
      params: { service: 'workspace' },
    });
  });

  test('is spread over the replicas', async () => {
    const replicas = await Promise.all(
      ['one', 'two'].map((name) => serve([answering(() => Promise.resolve(principalOf(name)))])),
    );
    const client = identityClient(...replicas);
    const seen = new Set<string | undefined>();
    while (seen.size < 2) seen.add((await client.identify({ token: '' })).principal?.id);
    expect(seen).toEqual(new Set(['one', 'two']));
  });

  test('in progress when the server stops is finished first', async () => {
    const started = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const server = await serve([
      answering(async () => {
        started.resolve();
        await release.promise;
        return principalOf('late');
      }),
    ]);
    const client = identityClient(server);
    const call = client.identify({ token: '' });
    await started.promise;
    const stopping = server.stop();
    release.resolve();
    expect((await call).principal?.id).toBe('late');
    client.close();
    await stopping;
  });
});

describe('a streaming call', () => {
  const request = { service: 'pki', instanceId: 'a', version: '1', storeId: '', engines: [] };
  const clusterClient = (server: RpcServer) =>
    remember(
      createRpcClient(ClusterDefinition, { address: `127.0.0.1:${server.port}`, service: 'sys' }),
    );
  const joining = (join: Cluster['join']) => implementService(ClusterDefinition, { join });

  test('yields every message, then the error that ends it', async () => {
    const server = await serve([
      joining(async function* () {
        for (let term = 1; term <= 300; term++) {
          yield messageOf(ClusterState, { keyringTerm: term });
        }
        throw new KeelsonError('sys.sealed');
      }),
    ]);
    const terms: number[] = [];
    const reading = (async () => {
      for await (const state of clusterClient(server).join(request)) terms.push(state.keyringTerm);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'sys.sealed' });
    expect(terms).toHaveLength(300);
    expect(terms.at(-1)).toBe(300);
  });

  test('left early by the reader stops the implementation', async () => {
    const stopped = Promise.withResolvers<void>();
    const server = await serve([
      joining(async function* (_, options) {
        try {
          yield messageOf(ClusterState, { keyringTerm: 1 });
          await untilCancelled(options);
        } finally {
          stopped.resolve();
        }
      }),
    ]);
    for await (const state of clusterClient(server).join(request)) {
      expect(state.keyringTerm).toBe(1);
      break;
    }
    await stopped.promise;
  });
});
