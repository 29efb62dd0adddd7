/**
 * An operator sees whether runs are executed in a sandbox; a caller without a token does not.
 *
 * | KEELSON_RUNNER | machine | `sys/host-info`, `keelson status` with a token | impaired, code 2 |
 * | --- | --- | --- | --- |
 * | true | makes a sandbox | sandboxed | no |
 * | true | makes none | off, with what is missing | yes, without what is missing |
 * | unsafe | any | unsafe | no, because it was chosen |
 * | false | any | off | no |
 */
import { join } from 'node:path';
import { startKeelson, type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keelson } from './operators-view.ts';

let folder: TemporaryDirectory;
beforeAll(async () => {
  folder = await temporaryDirectory();
});
afterAll(() => folder[Symbol.asyncDispose]());

const MISSING = 'bubblewrap: the program is not installed';
const FAULT =
  'workspace: the built-in runner is off, because this machine does not let it work: the log says why';

interface Case {
  readonly name: string;
  readonly setting: string;
  /** Whether the server finds the programs that make a sandbox. */
  readonly hasPrograms: boolean;
  readonly state: string;
  readonly says: RegExp;
  readonly impaired: readonly string[];
}

const CASES: readonly Case[] = [
  {
    name: 'in a sandbox',
    setting: 'true',
    hasPrograms: true,
    state: 'sandboxed',
    says: /^executed by the built-in runner, each in a sandbox/,
    impaired: [],
  },
  {
    name: 'off, because no sandbox can be made',
    setting: 'true',
    hasPrograms: false,
    state: 'off',
    says: new RegExp(`^executed by agents; the built-in runner is off: .*${MISSING}`),
    impaired: [FAULT],
  },
  {
    name: 'without a sandbox',
    setting: 'unsafe',
    hasPrograms: false,
    state: 'unsafe',
    says: /^executed by the built-in runner WITHOUT A SANDBOX/,
    impaired: [],
  },
  {
    name: 'turned off',
    setting: 'false',
    hasPrograms: false,
    state: 'off',
    says: /^executed by agents; the built-in runner is turned off/,
    impaired: [],
  },
];

test.for(CASES)('the runner is $name', { timeout: 60_000 }, async (one) => {
  const server = await startKeelson({
    dataFolder: join(folder.path, one.name.replaceAll(/\W+/g, '-')),
    env: {
      KEELSON_RUNNER: one.setting,
      ...(one.hasPrograms ? {} : { PATH: '/nonexistent' }),
    },
  });
  try {
    const read = async (path: string, token = ''): Promise<{ status: number; text: string }> => {
      const answer = await fetch(`${server.http}/${path}`, {
        headers: token === '' ? {} : { 'x-service-token': token },
      });
      return { status: answer.status, text: await answer.text() };
    };
    const told = await read('v1/sys/host-info', server.rootToken);
    const { runner } = (JSON.parse(told.text) as { data: Record<string, unknown> }).data;
    expect(runner).toEqual({ state: one.state, description: expect.stringMatching(one.says) });
    expect((await read('v1/sys/host-info')).status).toBe(403);

    const status = async (token: string) => {
      const env = { KEELSON_ADDR: server.http, KEELSON_TOKEN: token };
      const { code, out } = await keelson(['status', '--json'], env);
      return { code, ...(JSON.parse(out) as Record<string, unknown>) };
    };
    const common = {
      code: one.impaired.length === 0 ? 0 : 2,
      ...(one.impaired.length > 0 && { impaired: one.impaired }),
    };
    expect(await status(server.rootToken)).toMatchObject({
      ...common,
      runner: one.state,
      runs: expect.stringMatching(one.says),
    });
    const anonymous = await status('');
    expect(anonymous).toMatchObject(common);
    expect(Object.keys(anonymous)).not.toContain('runner');
    for (const path of ['readyz', 'v1/sys/seal-status', 'v1/sys/health', 'healthz'])
      expect((await read(path)).text).not.toMatch(/sandbox|unsafe|bubblewrap/i);
  } finally {
    await server.stop();
  }
});
