/** When a peer sends arbitrary data, only its own stream ends, and all others are served. */

import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
} from '@grpc/grpc-js';
import {
  type ClientFrame,
  ClientFrames,
  EdgeDefinition,
  RequestHead,
  RequestStart,
} from '@keelson/proto/edge/v1/edge';
import { messageOf } from '@keelson/proto/message';
import { createRpcServer, type RpcServer, toGrpcServiceDefinition } from '@keelson/rpc';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { edgeRequest, readAll, serviceOf } from '../edge.contract.ts';
import { edgeResponse } from '../edge-service.ts';
import { connectEdge } from './connect-edge.ts';
import { MAX_IDS_PER_STREAM, WINDOW_BYTES } from './edge-limits.ts';
import { createEdgeServer } from './edge-server.ts';

const PATH = '/keelson.edge.v1.Edge/Exchange';
const asIs = (bytes: Buffer): Buffer => bytes;

let server: RpcServer;
let hostile: Client;

beforeAll(async () => {
  const service = serviceOf(async ({ head, body }) => {
    await body.bytes(1_000_000);
    return edgeResponse(200, {}, Buffer.from(head.path));
  });
  server = await createRpcServer({
    address: '127.0.0.1:0',
    services: [createEdgeServer(service, [])],
  });
  hostile = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
});
afterAll(async () => {
  hostile.close();
  await server.stop(0);
});

/** Sends the messages and waits until the server has ended the stream. @returns its status */
const send = (messages: readonly Uint8Array[]): Promise<{ code: number; rule: string }> =>
  new Promise((resolve) => {
    const stream = hostile.makeBidiStreamRequest<Buffer, Buffer>(PATH, asIs, asIs);
    stream.on('data', () => undefined);
    stream.on('error', () => undefined);
    stream.on('status', ({ code, details }) => resolve({ code, rule: details }));
    for (const message of messages) stream.write(Buffer.from(message));
    stream.end();
  });

const frames = (...list: ClientFrame[]): Uint8Array =>
  ClientFrames.encode({ frames: list }).finish();

const headOf = (head: { method: string; path: string }) => messageOf(RequestHead, head);

const start = (id: number, complete = true) => ({
  id,
  frame: {
    $case: 'start' as const,
    value: messageOf(RequestStart, { head: headOf({ method: 'GET', path: '/' }), complete }),
  },
});
const chunk = (id: number, size: number, complete = false) => ({
  id,
  frame: { $case: 'chunk' as const, value: { body: Buffer.alloc(size), complete } },
});

const INVALID_ARGUMENT = 3;

describe('a peer that breaks a rule', () => {
  const breaches: [string, Uint8Array[]][] = [
    ['ids grow', [frames(start(5), start(5))]],
    ['ids grow', [frames(start(5), start(4))]],
    ['ids grow', [frames(start(0))]],
    ['an id begins with a request or call', [frames(chunk(7, 1))]],
    ['no chunk after the last one', [frames(start(1, false), chunk(1, 1, true), chunk(1, 1))]],
    ['no more bytes than the window grants', [frames(start(1, false), chunk(1, WINDOW_BYTES + 1))]],
    ['every frame has a content', [frames({ id: 1, frame: undefined })]],
    [
      'a request has a head',
      [frames({ id: 1, frame: { $case: 'start', value: messageOf(RequestStart) } })],
    ],
  ];
  test.for(breaches)('loses its stream: %s', async ([rule, messages]) => {
    const status = await send(messages);
    expect(status.code).toBe(INVALID_ARGUMENT);
    expect(status.rule).toContain(rule);
  });

  test('by opening too many ids has those refused', async () => {
    const ids = Array.from({ length: MAX_IDS_PER_STREAM + 10 }, (_, index) =>
      start(index + 1, false),
    );
    const cancels = ids.map(({ id }) => ({
      id,
      frame: { $case: 'cancel' as const, value: { reason: '' } },
    }));
    expect((await send([frames(...ids), frames(...cancels)])).code).toBe(0);
  });
});

describe('whatever a peer sends', () => {
  const anyFrame = fc.record({
    id: fc.nat({ max: 6 }),
    frame: fc.oneof(
      fc.record({
        $case: fc.constant('start' as const),
        value: fc.record({
          head: fc.option(fc.record({ method: fc.string(), path: fc.string() }).map(headOf), {
            nil: undefined,
          }),
          deadlineMs: fc.nat(),
          body: fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)),
          complete: fc.boolean(),
          tenant: fc.constantFrom('', 'organization org-1', '__proto__'),
        }),
      }),
      fc.record({
        $case: fc.constant('chunk' as const),
        value: fc.record({
          body: fc.nat({ max: 200_000 }).map((size) => Buffer.alloc(size)),
          complete: fc.boolean(),
        }),
      }),
      fc.constant({ $case: 'cancel' as const, value: { reason: 'any' } }),
      fc.record({
        $case: fc.constant('window' as const),
        value: fc.record({ bytes: fc.nat({ max: 0xffff_ffff }) }),
      }),
      fc.record({
        $case: fc.constant('call' as const),
        value: fc.record({
          method: fc.constantFrom('keelson.edge.v1.Edge/Describe', 'constructor', ''),
          payload: fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)),
          deadlineMs: fc.nat(),
          traceparent: fc.string(),
        }),
      }),
    ),
  });
  const anyMessage = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.array(anyFrame, { maxLength: 8 }).map((list) => frames(...list)),
  );

  test('its stream ends or is answered, and others are served', async () => {
    const connected = connectEdge({
      addresses: [`127.0.0.1:${server.port}`],
      service: 'echo',
    });
    await fc.assert(
      fc.asyncProperty(fc.array(anyMessage, { maxLength: 6 }), async (messages) => {
        const status = await send([...messages, frames({ id: 0, frame: undefined })]);
        expect(status.code).not.toBe(0);
        const { body } = await connected.edge.handle(edgeRequest({ path: '/other' }));
        expect((await readAll(body)).toString()).toBe('/other');
      }),
      { numRuns: 300 },
    );
    await connected.close();
  });
});

describe('whatever a server sends', () => {
  test('its client fails the requests and continues to run', async () => {
    let answers: readonly Uint8Array[] = [];
    const wicked = new Server();
    const { exchange } = toGrpcServiceDefinition(EdgeDefinition);
    wicked.addService(
      { exchange: { ...exchange, responseSerialize: asIs } as NonNullable<typeof exchange> },
      {
        exchange: (stream: ServerDuplexStream<unknown, Buffer>) => {
          stream.on('error', () => undefined);
          stream.on('data', () => {
            for (const answer of answers) stream.write(Buffer.from(answer));
            stream.end();
          });
          stream.sendMetadata(new Metadata());
        },
      },
    );
    const port = await new Promise<number>((resolve, reject) => {
      wicked.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      );
    });
    const connected = connectEdge({ addresses: [`127.0.0.1:${port}`], service: 'echo' });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 100 }), { maxLength: 3 }),
        async (bytes) => {
          answers = bytes;
          const outcome = await connected.edge.handle(edgeRequest({ method: 'POST' })).then(
            ({ head }) => head.status,
            (error: { code: string }) => error.code,
          );
          expect(outcome).toBe('edge.backend_unavailable');
        },
      ),
      { numRuns: 20 },
    );
    await connected.close();
    wicked.forceShutdown();
  });
});
