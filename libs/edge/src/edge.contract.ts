/**
 * Behavior on which the gateway relies with every transport to a service: in the same process or through the
 * edge stream. Each transport runs this suite with its own connection.
 */

import { createHash, randomBytes } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import { RequestHead } from '@keelson/proto/edge/v1/edge';
import { messageOf } from '@keelson/proto/message';
import { afterEach, describe, expect, test } from 'vitest';
import { bufferedBody } from './edge-body.ts';
import {
  type EdgeBody,
  type EdgeRequest,
  type EdgeResponse,
  type EdgeService,
  edgeResponse,
} from './edge-service.ts';

export interface ReachedService {
  readonly edge: EdgeService;
  close(): Promise<void>;
}

export type Reach = (service: EdgeService) => Promise<ReachedService>;

/** A service with a single handler. */
export const serviceOf = (handle: EdgeService['handle']): EdgeService => ({
  handle,
  describe: () =>
    Promise.resolve({
      service: 'echo',
      version: '1',
      pathsJson: '{}',
      componentsJson: '{}',
      title: 'Echo',
      text: '',
      pathPrefix: '/v1',
    }),
  check: () => Promise.resolve(['NATS cannot be reached']),
  position: () => Promise.resolve(7),
});

/** A request with defaults for everything that a test does not set. */
export const edgeRequest = (
  given: Partial<RequestHead> & { body?: EdgeBody; signal?: AbortSignal; timeoutMs?: number } = {},
): EdgeRequest => {
  const { body, signal, timeoutMs, ...head } = given;
  return {
    head: messageOf(RequestHead, { method: 'GET', path: '/', ...head }),
    body: body ?? bufferedBody(new Uint8Array()),
    signal: signal ?? new AbortController().signal,
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
};

/** A body that is produced while it is read. */
export const streamedBody = (chunks: () => AsyncIterable<Uint8Array>): EdgeBody => ({
  bytes: () => Promise.reject(new Error('not read whole here')),
  chunks,
});

export const readAll = async (body: EdgeResponse['body']): Promise<Buffer> => {
  if (body instanceof Uint8Array) return Buffer.from(body);
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts);
};

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

async function* inPieces(bytes: Uint8Array, pieceBytes: number): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < bytes.byteLength; offset += pieceBytes) {
    yield bytes.subarray(offset, offset + pieceBytes);
  }
}

const MIB = 1024 * 1024;
const SIZES = [0, 1, 600, 65_536, 65_537, 128 * 1024, MIB, 50 * MIB];

export const registerEdgeContract = (name: string, reach: Reach): void => {
  describe(`a service reached ${name}`, () => {
    const reached: ReachedService[] = [];
    const reachService = async (handle: EdgeService['handle']): Promise<EdgeService> => {
      const one = await reach(serviceOf(handle));
      reached.push(one);
      return one.edge;
    };
    afterEach(async () => {
      await Promise.all(reached.splice(0).map((one) => one.close()));
    });

    test('receives the whole head, and answers with status, headers and body', async () => {
      let received: RequestHead | undefined;
      const edge = await reachService(({ head }) => {
        received = head;
        return Promise.resolve(
          edgeResponse(
            201,
            { 'content-type': 'text/plain', 'set-cookie': ['a', 'b'] },
            Buffer.from('ä'),
          ),
        );
      });
      const request = edgeRequest({ path: '/röles', query: 'a=b', headers: { 'x-ä': 'ü' } });
      const response = await edge.handle(request);
      expect(received).toEqual(request.head);
      expect(response.head).toEqual({
        status: 201,
        headers: [
          { name: 'content-type', value: 'text/plain' },
          { name: 'set-cookie', value: 'a' },
          { name: 'set-cookie', value: 'b' },
        ],
      });
      expect((await readAll(response.body)).toString()).toBe('ä');
    });

    test('describes itself', async () => {
      const edge = await reachService(() => Promise.resolve(edgeResponse(204)));
      expect(await edge.describe()).toMatchObject({ service: 'echo', pathPrefix: '/v1' });
    });

    test('reports whether it can serve requests, and what is impaired', async () => {
      const service = serviceOf(() => Promise.resolve(edgeResponse(204)));
      const able = await reach(service);
      const check = (): Promise<never> => Promise.reject(new KeelsonError('storage.lost'));
      const unable = await reach({ ...service, check });
      reached.push(able, unable);
      expect(await able.edge.check()).toEqual(['NATS cannot be reached']);
      expect(await able.edge.position()).toBe(7);
      await expect(unable.edge.check()).rejects.toMatchObject({ code: 'storage.lost' });
    });

    test.for(SIZES)('receives and returns a body of %i bytes', async (size) => {
      const bytes = randomBytes(size);
      const edge = await reachService(async ({ body }) =>
        edgeResponse(200, {}, await body.bytes(size)),
      );
      const response = await edge.handle(edgeRequest({ method: 'PUT', body: bufferedBody(bytes) }));
      expect(sha256(await readAll(response.body))).toBe(sha256(bytes));
    });

    test.for(SIZES)('passes %i bytes through in pieces', async (size) => {
      const bytes = randomBytes(size);
      const edge = await reachService(({ body }) =>
        Promise.resolve(edgeResponse(200, {}, body.chunks())),
      );
      const body = streamedBody(() => inPieces(bytes, 100_000));
      const response = await edge.handle(edgeRequest({ method: 'PUT', body }));
      expect(sha256(await readAll(response.body))).toBe(sha256(bytes));
    });

    test('refuses to read more than the handler allows', async () => {
      const edge = await reachService(async ({ body }) => {
        const error = await body.bytes(1000).catch((thrown: unknown) => thrown);
        return edgeResponse((error as KeelsonError).httpStatus);
      });
      for (const size of [1001, 5 * MIB]) {
        const body = bufferedBody(randomBytes(size));
        expect((await edge.handle(edgeRequest({ method: 'PUT', body }))).head.status).toBe(413);
      }
    });

    test('serves a thousand requests at once, each its own answer', async () => {
      const everyone = Promise.withResolvers<void>();
      let waiting = 0;
      const edge = await reachService(async ({ head }) => {
        if (++waiting === 1000) everyone.resolve();
        await everyone.promise;
        return edgeResponse(200, {}, Buffer.from(head.path));
      });
      const paths = Array.from({ length: 1000 }, (_, index) => `/${index}`);
      const answers = await Promise.all(
        paths.map(async (path) => {
          const response = await edge.handle(edgeRequest({ path }));
          return (await readAll(response.body)).toString();
        }),
      );
      expect(answers).toEqual(paths);
    });

    test('is notified when the client disconnects', async () => {
      const started = Promise.withResolvers<void>();
      const stopped = Promise.withResolvers<void>();
      const edge = await reachService(
        ({ signal }) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => {
              stopped.resolve();
              resolve(edgeResponse(499));
            });
            started.resolve();
          }),
      );
      const controller = new AbortController();
      const outcome = edge.handle(edgeRequest({ signal: controller.signal })).then(
        ({ head }) => head.status,
        (error: unknown) => KeelsonError.from(error).httpStatus,
      );
      await started.promise;
      controller.abort();
      await stopped.promise;
      expect(await outcome).toBe(499);
    });

    test('passes on the error of a handler that rejects', async () => {
      const edge = await reachService(() =>
        Promise.reject(new KeelsonError('request.invalid', { text: 'no' })),
      );
      await expect(edge.handle(edgeRequest())).rejects.toMatchObject({
        code: 'request.invalid',
        params: { text: 'no' },
      });
    });

    test('aborts a body whose source fails', async () => {
      const edge = await reachService(() =>
        Promise.resolve(
          edgeResponse(
            200,
            {},
            (async function* () {
              yield randomBytes(10);
              throw new KeelsonError('storage.unavailable');
            })(),
          ),
        ),
      );
      const response = await edge.handle(edgeRequest());
      expect(response.head.status).toBe(200);
      await expect(readAll(response.body)).rejects.toMatchObject({ code: 'storage.unavailable' });
    });

    test('produces a body no faster than its reader reads, and serves others meanwhile', async () => {
      let produced = 0;
      const ended = Promise.withResolvers<void>();
      const edge = await reachService(({ head }) =>
        Promise.resolve(
          head.path === '/quick'
            ? edgeResponse(200, {}, Buffer.from('quick'))
            : edgeResponse(
                200,
                {},
                (async function* () {
                  try {
                    for (;;) {
                      produced += 50_000;
                      yield Buffer.alloc(50_000);
                    }
                  } finally {
                    ended.resolve();
                  }
                })(),
              ),
        ),
      );
      const slow = await edge.handle(edgeRequest({ path: '/slow' }));
      const reader = (slow.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
      await reader.next();
      for (let round = 0; round < 200; round++) {
        const quick = await edge.handle(edgeRequest({ path: '/quick' }));
        expect((await readAll(quick.body)).toString()).toBe('quick');
      }
      expect(produced).toBeLessThan(400_000);
      await reader.return?.();
      await ended.promise;
    });

    test('consumes a body no faster than its handler reads', async () => {
      let produced = 0;
      const release = Promise.withResolvers<void>();
      const edge = await reachService(async ({ head, body }) => {
        if (head.path === '/quick') return edgeResponse(204);
        let read = 0;
        for await (const chunk of body.chunks()) {
          read += chunk.byteLength;
          await release.promise;
        }
        return edgeResponse(200, {}, Buffer.from(String(read)));
      });
      const body = streamedBody(async function* () {
        for (let count = 0; count < 100; count++) {
          produced += 50_000;
          yield Buffer.alloc(50_000);
        }
      });
      const slow = edge.handle(edgeRequest({ path: '/slow', method: 'PUT', body }));
      for (let round = 0; round < 200; round++) {
        expect((await edge.handle(edgeRequest({ path: '/quick' }))).head.status).toBe(204);
      }
      expect(produced).toBeLessThan(400_000);
      release.resolve();
      expect((await readAll((await slow).body)).toString()).toBe('5000000');
    });
  });
};
