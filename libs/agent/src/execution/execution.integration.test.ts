/** A phase whose agent pool limits what its run reaches is not executed where nothing enforces that. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';
import { type ClaimedPhase, ControlPlane } from '../control-plane.ts';
import { executePhase, type Place } from './execution.ts';
import { toPlaceFolder } from './place.ts';

test.for([
  [['registry.example.com'], 'without a sandbox (KEELSON_AGENT_EXECUTION=unsafe)'],
  [[], 'without a sandbox (KEELSON_AGENT_EXECUTION=unsafe)'],
  [null, 'the tool is looked for'],
  [undefined, 'the tool is looked for'],
] as const)('an allow-list of %s', async ([allowed, said]) => {
  await using directory = await temporaryDirectory();
  const heard: string[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      heard.push(body);
      response.writeHead(204).end();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const phase = {
    runId: 'run-one',
    agentId: 'agent-one',
    token: 'of-the-run',
    attributes: { phase: 'plan', 'is-assessment': false, 'allowed-egress': allowed },
  } as unknown as ClaimedPhase;
  const place: Place = {
    program: {
      name: 'agent',
      prefix: 'KEELSON_AGENT_',
      unsafe: 'KEELSON_AGENT_EXECUTION=unsafe',
    },
    folder: toPlaceFolder(join(directory.path, 'places'), 0),
    owner: {},
    confinement: undefined,
    controlPlane: new ControlPlane(address, 'of-the-pool'),
    task: { address, host: 'keelson.example', timeLimitSeconds: 60, outputLimitBytes: 1024 },
    environment: {},
    caFile: undefined,
    cliConfigFile: undefined,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  };
  const findTool = () => Promise.reject(new Error('the tool is looked for'));
  const faults: string[] = [];
  const log = { ...place.log, error: (values: object) => void faults.push(JSON.stringify(values)) };
  await executePhase({ ...place, log }, phase, findTool, new AbortController().signal);
  server.close();
  const isRefused = said.startsWith('without');
  expect(heard.some((body) => body.includes(said))).toBe(isRefused);
  expect(faults).toHaveLength(isRefused ? 0 : 1);
  expect(heard.at(-1)).toContain('errored');
});
