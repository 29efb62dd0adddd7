import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
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
    confinement: { ranges: [], readable: [] },
    firstUserId: undefined,
    timeLimitSeconds: 86_400,
  });
});

test('reads what runs may read and reach, unless they have no sandbox', () => {
  const lists = {
    ...GIVEN,
    KEELSON_AGENT_ALLOWED_RANGES: '10.1.0.0/16, 169.254.169.254',
    KEELSON_AGENT_READABLE_PATHS: '/srv/mirror',
  };
  expect(readConfig(lists).confinement).toEqual({
    ranges: ['10.1.0.0/16', '169.254.169.254'],
    readable: ['/srv/mirror'],
  });
  expect(readConfig({ ...lists, KEELSON_AGENT_EXECUTION: 'unsafe' }).confinement).toBeUndefined();
});

test.for([
  ['KEELSON_AGENT_ADDRESS', ''],
  ['KEELSON_AGENT_ADDRESS', 'keelson.example'],
  ['KEELSON_AGENT_TOKEN', ''],
  ['KEELSON_AGENT_POLL_MILLISECONDS', '0'],
  ['KEELSON_AGENT_POLL_MILLISECONDS', '2s'],
  ['KEELSON_AGENT_EXECUTION', 'container'],
  ['KEELSON_AGENT_READABLE_PATHS', '/srv/mirror,srv'],
  ['KEELSON_AGENT_FIRST_USER_ID', 'keelson'],
  ['KEELSON_AGENT_TIME_LIMIT_SECONDS', '2h'],
] as const)('names %s when it is %j', ([name, value]) => {
  expect(() => readConfig({ ...GIVEN, [name]: value })).toThrow(name);
});

describe('the file of Jobs', () => {
  const JOB = {
    namespace: 'keelson-runs',
    image: 'keelson-agent:1',
    serviceAccountName: 'keelson-runs',
    resources: {},
    folderSize: '10Gi',
    deadlineSeconds: 60,
  };
  const read = (entries: object, env: NodeJS.ProcessEnv = { KUBERNETES_SERVICE_HOST: '::1' }) => {
    const folder = mkdtempSync(join(tmpdir(), 'keelson-agent-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'job.json');
    writeFileSync(file, JSON.stringify(entries));
    return readConfig({
      ...GIVEN,
      KUBERNETES_SERVICE_PORT: '443',
      ...env,
      KEELSON_AGENT_JOB_FILE: file,
    }).jobs;
  };

  test('leads to the API server of the cluster, with the account of the pod', () => {
    const folder = '/var/run/secrets/kubernetes.io/serviceaccount';
    expect(read(JOB)).toEqual({
      template: JOB,
      place: {
        address: 'https://[::1]:443',
        tokenFile: `${folder}/token`,
        namespace: 'keelson-runs',
      },
      authorityFile: `${folder}/ca.crt`,
    });
  });

  test.for([
    [{ ...JOB, privileged: true }, 'privileged is not known'],
    [{ ...JOB, image: undefined }, 'image is missing or wrong'],
    [{ ...JOB, deadlineSeconds: 0 }, 'deadlineSeconds is missing or wrong'],
    [{ ...JOB, nodeSelector: ['disk'] }, 'nodeSelector is missing or wrong'],
    [[], 'it is not a JSON object'],
  ] as const)('%j is refused', ([entries, problem]) => {
    expect(() => read(entries)).toThrow(`KEELSON_AGENT_JOB_FILE: ${problem}`);
  });

  test('is refused outside of a cluster', () => {
    expect(() => read(JOB, {})).toThrow('not in a pod');
  });
});
