import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

const GIVEN = {
  KEELSON_AGENT_ADDRESS: 'https://keelson.example:8443//',
  KEELSON_AGENT_TOKEN: 'of the pool',
};

test('uses defaults for absent settings', () => {
  expect(readConfig(GIVEN)).toMatchObject({
    address: 'https://keelson.example:8443',
    token: 'of the pool',
    folder: join(process.cwd(), 'data', 'agent'),
    caFile: undefined,
    terraform: 'terraform',
    versionsFolder: undefined,
    pollMs: 2000,
  });
});

test.for([
  ['KEELSON_AGENT_ADDRESS', ''],
  ['KEELSON_AGENT_ADDRESS', 'keelson.example'],
  ['KEELSON_AGENT_TOKEN', ''],
  ['KEELSON_AGENT_POLL_MILLISECONDS', '0'],
  ['KEELSON_AGENT_POLL_MILLISECONDS', '2s'],
] as const)('names %s when it is %j', ([name, value]) => {
  expect(() => readConfig({ ...GIVEN, [name]: value })).toThrow(name);
});
