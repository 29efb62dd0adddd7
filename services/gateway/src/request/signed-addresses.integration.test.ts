/** An address that is its own credential is in no log, audit file or trace. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createLogger } from '@keelson/logging';
import { startTracing } from '@keelson/runtime';
import { temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';
import { startGateway } from '../../test/stub-services.ts';

const SIGNATURE = 'sIgNaTuReOfThIsAdDrEsS_-sIgNaTuReOfThIsAdDr';
const ENCODED = `%73${SIGNATURE.slice(1)}`;

const ADDRESSES = [
  `/downloads/logs/plan-1/1900000000/${SIGNATURE}`,
  `/downloads/logs/plan-1/1900000000/${SIGNATURE}/`,
  `/downloads/logs/plan-1/1900000000/${SIGNATURE}?limit=10&offset=0`,
  `/downloads/logs/plan-1/1900000000/${ENCODED}`,
  `/downloads/logs/plan-1/%31900000000/${SIGNATURE}`,
  `/%64ownloads/logs/plan-1/1900000000/${SIGNATURE}`,
  `/Downloads/logs/plan-1/1900000000/${SIGNATURE}`,
  `/x/downloads/logs/plan-1/1900000000/${SIGNATURE}`,
  `/downloads/states/sv-1?expires=1900000000&signature=${SIGNATURE}`,
  `/uploads/states/sv-1?expires=1900000000&signature=${SIGNATURE}`,
] as const;

test('a signature is recorded nowhere, the path without it is', async () => {
  await using folder = await temporaryDirectory();
  const received: string[] = [];
  const collector = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => received.push(chunk.toString()));
    request.on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const tracing = await startTracing({
    serviceName: 'test',
    endpoint: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    logger: createLogger({ name: 'test', level: 'silent' }),
  });
  const gateway = await startGateway();
  const file = join(folder.path, 'audit.log');
  gateway.state.auditGeneration = 1;
  gateway.state.devices = [
    {
      path: 'file/',
      type: 'file',
      options: { file_path: file, log_raw: 'true' },
      salt: Buffer.alloc(32),
      accessor: '',
    },
  ];
  for (const address of ADDRESSES)
    for (const method of ['GET', 'PUT'])
      for (const prefix of ['/api/v2', '/API/V2'])
        await fetch(`${gateway.http}${prefix}${address}`, { method });
  await gateway.stop();
  await tracing.stop();
  await new Promise((resolve) => collector.close(resolve));

  const kept = {
    log: gateway.lines.join(''),
    audit: readFileSync(file, 'utf8'),
    traces: received.join(''),
  };
  expect(kept.traces).toContain('api_v2');
  for (const text of [kept.log, kept.audit]) {
    expect(text).toContain('/api/v2/downloads/logs/plan-1/1900000000/[redacted]'.slice(1));
    expect(text).toContain('api/v2/downloads/states/sv-1');
  }
  for (const [name, text] of Object.entries(kept))
    expect([name, text.includes(SIGNATURE.slice(1))]).toEqual([name, false]);
});
