import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { JetStreamBus } from '@keelson/bus/jetstream';
import { createLogger } from '@keelson/logging';
import { IdentityDefinition } from '@keelson/proto/workspace/v1/identity';
import { createRpcClient, createRpcServer, implementService, type RpcService } from '@keelson/rpc';
import { startTracing } from '@keelson/runtime';
import { startNats, stubService } from '@keelson/testkit';
import { trace } from '@opentelemetry/api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, TOKEN } from './stub-services.ts';

/** A collector that keeps what it receives. */
const received: string[] = [];
const collector = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => {
    body += chunk.toString();
  });
  request.on('end', () => {
    received.push(`${request.url} ${body}`);
    response.setHeader('content-type', 'application/json').end('{}');
  });
});
beforeAll(() => new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => collector.close(resolve)));

const start = () =>
  startTracing({
    serviceName: 'keelson-gateway',
    endpoint: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    logger: createLogger({ name: 'test', level: 'silent' }),
  });

describe('traces', () => {
  test('of a request reach the collector and the service, in the trace of the client', async () => {
    const tracing = await start();
    const gateway = await startGateway();
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const headers = {
      'x-service-token': TOKEN,
      traceparent: `00-${traceId}-b7ad6b7169203331-01`,
    };
    const response = await fetch(`${gateway.http}/v1/pki/echo`, { headers });
    const { data } = (await response.json()) as { data: { head: { traceparent: string } } };
    await gateway.stop();
    await tracing.stop();

    expect(data.head.traceparent).toMatch(new RegExp(`^00-${traceId}-[\\da-f]{16}-01$`));
    const sent = received.join('');
    expect(sent).toMatch(/^\/v1\/traces /);
    expect(sent).toContain(traceId);
    expect(sent).toContain('GET v1/pki');
    expect(sent).toContain('keelson-gateway');
    expect(sent).not.toContain(TOKEN);
  });

  test('continue over gRPC and over NATS', async () => {
    const tracing = await start();
    const traceIds: (string | undefined)[] = [];
    const server = await createRpcServer({
      address: '127.0.0.1:0',
      services: [
        implementService(
          IdentityDefinition,
          stubService<RpcService<typeof IdentityDefinition>>({
            identify: () => {
              traceIds.push(trace.getActiveSpan()?.spanContext().traceId);
              return Promise.resolve({ principal: undefined });
            },
          }),
        ),
      ],
    });
    const client = createRpcClient(IdentityDefinition, {
      address: `127.0.0.1:${server.port}`,
      service: 'workspace',
    });
    const nats = await startNats({ jetstream: true });
    const bus = new JetStreamBus({ servers: nats.url });

    const tracer = trace.getTracer('test');
    const sent = await tracer.startActiveSpan('test', async (span) => {
      await client.identify({ token: '' });
      await bus.ensureStream({ stream: 'wal.traced' });
      await bus.publish('wal.traced', Buffer.from('x'), { messageId: '1' });
      span.end();
      return span.spanContext().traceId;
    });
    for await (const { headers } of bus.consume('wal.traced', 0, new AbortController().signal)) {
      traceIds.push(headers['traceparent']?.split('-')[1]);
      break;
    }
    expect(traceIds).toEqual([sent, sent]);

    await bus.close();
    await nats[Symbol.asyncDispose]();
    client.close();
    await server.stop(0);
    await tracing.stop();
  });
});
