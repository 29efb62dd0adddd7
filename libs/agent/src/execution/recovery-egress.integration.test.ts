/** The recovery of a phase reaches no more than the phase: code of the run may have written the files that it reads. */
import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';
import { ControlPlane } from '../control-plane.ts';
import { clearPlace, type Place } from './execution.ts';
import { preparePlace, toPlaceFolder } from './place.ts';

/** The program reaches the usual address of its machine without the proxy. */
const HOST = '127.0.0.9';

test.for([
  [
    'is asked to revoke the token of a phase without limits',
    undefined,
    ['/v1/auth/token/revoke-self'],
  ],
  ['is asked by a phase that may reach it', [HOST], ['/v1/auth/token/revoke-self']],
  ['is not asked by a phase that may reach nothing', [], []],
] as const)('a server %s', { timeout: 60_000 }, async ([, allowedEgress, expected]) => {
  await using directory = await temporaryDirectory();
  await chmod(directory.path, 0o711);
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(204).end();
  });
  await once(server.listen(0, HOST), 'listening');
  const address = `http://${HOST}:${(server.address() as AddressInfo).port}`;
  const places = join(directory.path, 'places');
  await mkdir(places, { mode: 0o711 });
  const faults: string[] = [];
  const place: Place = {
    program: {
      name: 'agent',
      prefix: 'KEELSON_AGENT_',
      unsafe: 'KEELSON_AGENT_EXECUTION=unsafe',
    },
    folder: toPlaceFolder(places, 0),
    owner: {},
    confinement: { ranges: [HOST], readable: [] },
    controlPlane: new ControlPlane('http://127.0.0.1:18200', 'of-the-pool'),
    task: {
      address: 'http://127.0.0.1:18200',
      host: '127.0.0.1:18200',
      timeLimitSeconds: 60,
      outputLimitBytes: 1024,
    },
    environment: { PATH: process.env['PATH'] ?? '' },
    caFile: undefined,
    cliConfigFile: undefined,
    log: {
      info: () => undefined,
      warn: () => undefined,
      error: (values) => void faults.push(JSON.stringify(values)),
    },
  };
  await preparePlace(
    place.folder,
    { agentId: 'agent-one', ...(allowedEgress !== undefined && { allowedEgress }) },
    {},
  );
  const root = join(place.folder.run, 'phases', 'run-one');
  await mkdir(root, { recursive: true });
  const session = { address, namespace: '', caPem: '', token: 'hvs.left' };
  await writeFile(join(root, 'sessions.json'), JSON.stringify([session]));
  await clearPlace(place, () => Promise.resolve());
  server.close();
  expect(faults).toEqual([]);
  expect(asked).toEqual(expected);
});
