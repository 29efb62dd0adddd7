/** Behavior that exists only between processes: deadlines, draining, lost replicas, calls on the stream. */

import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { ManualClock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import { Principal } from '@keelson/proto/edge/v1/edge';
import { messageOf } from '@keelson/proto/message';
import { ClusterDefinition } from '@keelson/proto/sys/v1/cluster';
import { IdentifyResponse, IdentityDefinition } from '@keelson/proto/workspace/v1/identity';
import { createRpcServer } from '@keelson/rpc';
import { describe, expect, onTestFinished, test } from 'vitest';
import { edgeRequest, readAll, serviceOf, streamedBody } from '../edge.contract.ts';
import { bufferedBody } from '../edge-body.ts';
import { type EdgeService, edgeResponse } from '../edge-service.ts';
import { MAX_HEAD_BYTES, MAX_IDS_PER_STREAM } from './edge-limits.ts';
import { createEdgeServer } from './edge-server.ts';
import { connect, ready, serve } from './replicas.contract.ts';

const never = new Promise<never>(() => undefined);

describe('a deadline', () => {
  test('ends the request with 504 and aborts the handler', async () => {
    const aborted = Promise.withResolvers<unknown>();
    const started = Promise.withResolvers<void>();
    const server = await serve(({ signal }) => {
      signal.addEventListener('abort', () => aborted.resolve(signal.reason));
      started.resolve();
      return never;
    });
    const clock = new ManualClock();
    const answer = connect([server.port], clock).edge.handle(edgeRequest({ timeoutMs: 5000 }));
    await started.promise;
    clock.advance(5000);
    await expect(answer).rejects.toMatchObject({
      code: 'request.deadline_exceeded',
      httpStatus: 504,
    });
    await aborted.promise;
  });

  test('is enforced by the server too, whatever the client does', async () => {
    const clock = new ManualClock();
    const started = Promise.withResolvers<void>();
    const service = serviceOf(() => {
      started.resolve();
      return never;
    });
    const server = await createRpcServer({
      address: '127.0.0.1:0',
      services: [createEdgeServer(service, [], { clock })],
    });
    onTestFinished(() => server.stop(0));
    const answer = connect([server.port]).edge.handle(edgeRequest({ timeoutMs: 20_000 }));
    await started.promise;
    clock.advance(20_000);
    await expect(answer).rejects.toMatchObject({ code: 'request.deadline_exceeded' });
  });

  test('no longer limits a body whose head has arrived', async () => {
    const release = Promise.withResolvers<void>();
    const server = await serve(() =>
      Promise.resolve(
        edgeResponse(
          200,
          {},
          (async function* () {
            await release.promise;
            yield Buffer.from('late');
          })(),
        ),
      ),
    );
    const clock = new ManualClock();
    const { edge } = connect([server.port], clock);
    const { body } = await edge.handle(edgeRequest({ timeoutMs: 1000 }));
    clock.advance(60_000);
    release.resolve();
    expect((await readAll(body)).toString()).toBe('late');
  });
});

describe('a call on the stream', () => {
  test('reaches the implementation and returns its result or its error', async () => {
    const server = await serve(() => never, {
      identify: ({ token }) =>
        token === 'bad'
          ? Promise.reject(new KeelsonError('request.not_found', { text: 'no such token' }))
          : Promise.resolve(
              messageOf(IdentifyResponse, { principal: messageOf(Principal, { id: token }) }),
            ),
    });
    const identity = connect([server.port]).client(IdentityDefinition);
    expect((await identity.identify({ token: 'user-1' })).principal?.id).toBe('user-1');
    await expect(identity.identify({ token: 'bad' })).rejects.toMatchObject({
      code: 'request.not_found',
      params: { text: 'no such token' },
    });
  });

  test('of a method that the server does not implement is refused', async () => {
    const server = await serve(() => never);
    const identity = connect([server.port]).client(IdentityDefinition);
    await expect(identity.identify({ token: '' })).rejects.toMatchObject({
      code: 'request.not_found',
    });
  });

  test('is not available for streaming methods', async () => {
    const server = await serve(() => never);
    expect(() => connect([server.port]).client(ClusterDefinition)).toThrow(TypeError);
  });
});

describe('limits', () => {
  test('a head beyond its limit is refused before it is sent', async () => {
    const server = await serve(() => never);
    const answer = connect([server.port]).edge.handle(
      edgeRequest({ headers: { long: 'x'.repeat(MAX_HEAD_BYTES) } }),
    );
    await expect(answer).rejects.toMatchObject({ code: 'request.head_too_large', httpStatus: 431 });
  });

  test('refuses more ids than the limit, until others have ended', async () => {
    const release = Promise.withResolvers<void>();
    const server = await serve(async () => {
      await release.promise;
      return edgeResponse(204);
    });
    const client = connect([server.port]);
    const { edge } = client;
    const first = edge.handle(edgeRequest());
    await ready(client, 1);
    const answers = Array.from({ length: MAX_IDS_PER_STREAM - 1 }, () =>
      edge.handle(edgeRequest()),
    );
    await expect(edge.handle(edgeRequest())).rejects.toMatchObject({ code: 'edge.overloaded' });
    release.resolve();
    await Promise.all([first, ...answers]);
    expect((await edge.handle(edgeRequest())).head.status).toBe(204);
  });
});

describe('a replica that stops', () => {
  test('finishes open requests while new ones go to another', async () => {
    const release = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const leaving = await serve(async ({ head }) => {
      if (head.path === '/long') {
        started.resolve();
        await release.promise;
      }
      return edgeResponse(200, {}, Buffer.from('leaving'));
    });
    const client = connect([leaving.port]);
    const long = client.edge.handle(edgeRequest({ method: 'POST', path: '/long' }));
    await started.promise;
    const stopping = leaving.stop();
    await expect.poll(() => client.status.map(({ state }) => state)).toContain('draining');
    // On the same port: a new process of the same replica.
    const staying = await serve(
      () => Promise.resolve(edgeResponse(200, {}, Buffer.from('staying'))),
      undefined,
      `127.0.0.1:${leaving.port}`,
    );
    expect(staying.port).toBe(leaving.port);
    const next = await client.edge.handle(edgeRequest({ method: 'POST' }));
    expect((await readAll(next.body)).toString()).toBe('staying');
    release.resolve();
    expect((await readAll((await long).body)).toString()).toBe('leaving');
    await stopping;
  });

  test('completes a body that it is sending', async () => {
    const release = Promise.withResolvers<void>();
    const server = await serve(() =>
      Promise.resolve(
        edgeResponse(
          200,
          {},
          (async function* () {
            yield Buffer.alloc(1000);
            await release.promise;
            yield Buffer.alloc(2_000_000);
          })(),
        ),
      ),
    );
    const client = connect([server.port]);
    const { body } = await client.edge.handle(edgeRequest());
    const stopping = server.stop();
    await expect.poll(() => client.status.map(({ state }) => state)).toContain('draining');
    release.resolve();
    expect((await readAll(body)).byteLength).toBe(2_001_000);
    await stopping;
  });
});

/** A replica behind a socket that is cut as by `kill -9`: without GOAWAY or frame, at any moment. */
const serveBehindWire = async (handle: EdgeService['handle']) => {
  const server = await serve(handle);
  const sockets = new Set<Socket>();
  const wire = createServer((near) => {
    const far = createConnection(server.port, '127.0.0.1');
    for (const socket of [near, far]) {
      socket.on('error', () => undefined);
      sockets.add(socket);
    }
    near.pipe(far).pipe(near);
  }).listen(0, '127.0.0.1');
  await once(wire, 'listening');
  const { port } = wire.address() as { port: number };
  const cut = (): void => {
    wire.close();
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return { port, cut };
};

describe('one of two replicas killed under load', () => {
  test('leaves no request open: safe requests succeed, others fail or succeed', async () => {
    let served = 0;
    const reached = Promise.withResolvers<void>();
    const handle: EdgeService['handle'] = async ({ head, body }) => {
      if (++served === 300) reached.resolve();
      await body.bytes(1_000_000);
      return edgeResponse(200, {}, Buffer.from(head.path));
    };
    const killed = await serveBehindWire(handle);
    const survivor = await serve(handle);
    const client = connect([killed.port, survivor.port]);
    await expect.poll(() => client.status.filter(({ state }) => state === 'ready').length).toBe(2);
    const outcomes: string[] = [];
    const run = async (method: string, index: number): Promise<void> => {
      const request = edgeRequest({
        method,
        path: `/${index}`,
        body: bufferedBody(Buffer.alloc(method === 'GET' ? 0 : 100_000)),
      });
      try {
        const { body } = await client.edge.handle(request);
        outcomes.push(`${method} ${(await readAll(body)).toString() === `/${index}`}`);
      } catch (error) {
        outcomes.push(`${method} ${KeelsonError.from(error).code}`);
      }
    };
    const load = Promise.all(
      Array.from({ length: 16 }, async (_, worker) => {
        for (let round = 0; round < 100; round++) {
          await run(worker % 2 === 0 ? 'GET' : 'POST', worker * 1000 + round);
        }
      }),
    );
    await reached.promise;
    killed.cut();
    await load;
    expect(outcomes).toHaveLength(1600);
    const kinds = new Set(outcomes);
    expect(kinds).toContain('GET true');
    expect(kinds).toContain('POST true');
    kinds.delete('GET true');
    kinds.delete('POST true');
    expect([...kinds].filter((kind) => kind !== 'POST edge.backend_unavailable')).toEqual([]);
  });

  test('aborts a body that it was sending with `edge.backend_unavailable`', async () => {
    const replica = await serveBehindWire(() =>
      Promise.resolve(
        edgeResponse(
          200,
          {},
          (async function* () {
            yield Buffer.alloc(1000);
            await never;
          })(),
        ),
      ),
    );
    const { body } = await connect([replica.port]).edge.handle(edgeRequest());
    const reading = readAll(body);
    replica.cut();
    await expect(reading).rejects.toMatchObject({ code: 'edge.backend_unavailable' });
  });

  const streamed = streamedBody(async function* () {
    yield Buffer.alloc(10);
  });
  test.for([
    ['sends a safe request again', {}, 2],
    ['does not send again what may have had an effect', { method: 'POST' }, 1],
    ['does not send again what it no longer has', { body: streamed }, 1],
  ] as const)('%s', async ([, given, times]) => {
    const reached: number[] = [];
    const first = Promise.withResolvers<number>();
    const replicas = await Promise.all(
      [0, 1].map((index) =>
        serveBehindWire(() => {
          first.resolve(index);
          return reached.push(index) === 1 ? never : Promise.resolve(edgeResponse(204));
        }),
      ),
    );
    const client = connect(replicas.map(({ port }) => port));
    await expect.poll(() => client.status.filter(({ state }) => state === 'ready').length).toBe(2);
    const outcome = client.edge.handle(edgeRequest(given)).then(
      ({ head }) => head.status,
      (error: unknown) => KeelsonError.from(error).code,
    );
    replicas[await first.promise]?.cut();
    expect(await outcome).toBe(times === 2 ? 204 : 'edge.backend_unavailable');
    expect(reached).toHaveLength(times);
  });
});

describe('a replica that may not write to its store', () => {
  const superseded = () => Promise.reject(new KeelsonError('storage.superseded'));

  test('passes requests and calls to another, which is asked first from then on', async () => {
    let asked = 0;
    const refuse = () => {
      asked += 1;
      return superseded();
    };
    const former = await serve(refuse, { identify: refuse });
    const answered = messageOf(IdentifyResponse, { principal: messageOf(Principal, { id: 'u' }) });
    const current = await serve(() => Promise.resolve(edgeResponse(201)), {
      identify: () => Promise.resolve(answered),
    });
    const client = connect([former.port, current.port]);
    await ready(client, 2);
    for (let request = 0; request < 20; request += 1) {
      const body = bufferedBody(Buffer.from('{}'));
      const answer = await client.edge.handle(edgeRequest({ method: 'POST', body }));
      expect(answer.head.status).toBe(201);
      expect(await client.client(IdentityDefinition).identify({ token: 'u' })).toEqual(answered);
    }
    expect(asked).toBeLessThan(2);
  });

  test('is asked again when the others may not write either', async () => {
    let writer = 0;
    const replicas = await Promise.all(
      [0, 1].map((at) =>
        serve(() => (writer === at ? Promise.resolve(edgeResponse(200 + at)) : superseded())),
      ),
    );
    const client = connect(replicas.map(({ port }) => port));
    await ready(client, 2);
    for (const at of [0, 1, 0, 1]) {
      writer = at;
      const { head } = await client.edge.handle(edgeRequest({ method: 'POST' }));
      expect(head.status).toBe(200 + at);
    }
  });

  test('lets requests wait until one that may connects', async () => {
    const refused = Promise.withResolvers<void>();
    const former = await serve(() => {
      refused.resolve();
      return superseded();
    });
    const later = await serve(() => never);
    await later.stop(0);
    const client = connect([former.port, later.port]);
    await ready(client, 1);
    const answer = client.edge.handle(edgeRequest({ method: 'POST' }));
    await refused.promise;
    await serve(() => Promise.resolve(edgeResponse(204)), undefined, `127.0.0.1:${later.port}`);
    expect((await answer).head.status).toBe(204);
  });

  test('is the answer if there is none that may, or the body is gone', async () => {
    const former = await serve(superseded);
    const clock = new ManualClock();
    const client = connect([former.port], clock);
    await ready(client, 1);
    const refusal = { code: 'storage.superseded', httpStatus: 503 };
    const body = streamedBody(async function* () {
      yield Buffer.alloc(10);
    });
    await expect(client.edge.handle(edgeRequest({ body }))).rejects.toMatchObject(refusal);
    const limited = client.edge.handle(edgeRequest({ timeoutMs: 60_000 }));
    const outcome = limited.catch((error: unknown) => error);
    await expect.poll(() => client.status[0]?.idsUnderWay).toBe(0);
    clock.advance(10_000);
    expect(await outcome).toMatchObject(refusal);
  });
});

describe('a sealed replica', () => {
  const sealed = (code: 'sys.sealed' | 'storage.sealed') => () =>
    Promise.reject(new KeelsonError(code));

  test.each(['sys.sealed', 'storage.sealed'] as const)(
    'passes requests and calls to one that is open (%s)',
    async (code) => {
      const refuse = sealed(code);
      const answered = messageOf(IdentifyResponse, {
        principal: messageOf(Principal, { id: 'u' }),
      });
      const replicas = [
        await serve(refuse, { identify: refuse }),
        await serve(() => Promise.resolve(edgeResponse(201)), {
          identify: () => Promise.resolve(answered),
        }),
        await serve(refuse, { identify: refuse }),
      ];
      const client = connect(replicas.map(({ port }) => port));
      await ready(client, 3);
      for (let request = 0; request < 20; request += 1) {
        const body = bufferedBody(Buffer.from('{}'));
        const answer = await client.edge.handle(edgeRequest({ method: 'POST', body }));
        expect(answer.head.status).toBe(201);
        expect(await client.client(IdentityDefinition).identify({ token: 'u' })).toEqual(answered);
      }
    },
  );

  test('is reached by what it serves, and is the first asked again when it opens', async () => {
    let isOpen = false;
    const closed = await serve(({ head }) =>
      isOpen || head.path === '/sys/unseal'
        ? Promise.resolve(edgeResponse(200))
        : sealed('sys.sealed')(),
    );
    const open = await serve(() => Promise.resolve(edgeResponse(201)));
    const client = connect([closed.port, open.port]);
    await ready(client, 2);
    const statusOf = async (path: string): Promise<number> =>
      (await client.edge.handle(edgeRequest({ path }))).head.status;
    expect(await statusOf('/other')).toBe(201);
    expect(await statusOf('/sys/unseal')).toBe(200);
    isOpen = true;
    expect(await statusOf('/other')).toBe(200);
  });

  test('is the answer at once if there is no open one, or the body is gone', async () => {
    const first = await serve(sealed('sys.sealed'));
    const client = connect([first.port, (await serve(sealed('sys.sealed'))).port]);
    await ready(client, 2);
    const refusal = { code: 'sys.sealed', httpStatus: 503 };
    await expect(client.edge.handle(edgeRequest({ method: 'POST' }))).rejects.toMatchObject(
      refusal,
    );
    const body = streamedBody(async function* () {
      yield Buffer.alloc(10);
    });
    await expect(client.edge.handle(edgeRequest({ body }))).rejects.toMatchObject(refusal);
  });

  test('is the answer at once when the others may not write to their store', async () => {
    const replicas = [
      await serve(sealed('sys.sealed')),
      await serve(() => Promise.reject(new KeelsonError('storage.superseded'))),
    ];
    const client = connect(
      replicas.map(({ port }) => port),
      new ManualClock(),
    );
    await ready(client, 2);
    await expect(client.edge.handle(edgeRequest())).rejects.toMatchObject({ code: 'sys.sealed' });
  });
});

describe('a service without a replica', () => {
  test('fails requests after a short wait', async () => {
    const server = await serve(() => never);
    await server.stop(0);
    const clock = new ManualClock();
    const answer = connect([server.port], clock).edge.handle(edgeRequest());
    clock.advance(5000);
    await expect(answer).rejects.toMatchObject({
      code: 'edge.backend_unavailable',
      params: { service: 'pki' },
    });
  });

  test('receives requests as soon as it starts', async () => {
    const first = await serve(() => never);
    await first.stop(0);
    const answer = connect([first.port]).edge.handle(edgeRequest());
    await serve(() => Promise.resolve(edgeResponse(204)), undefined, `127.0.0.1:${first.port}`);
    expect((await answer).head.status).toBe(204);
  });
});
