import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Config, parseConfig, readSettingsFile } from './config.ts';

const schema = Type.Object({
  httpPort: Type.Integer({ description: 'Port.', minimum: 0, default: 8200 }),
  tlsNames: Type.Array(Type.String(), { description: 'Names.', default: [] }),
  version: Type.String({ description: 'Version.', default: '1' }),
  traced: Type.Boolean({ description: 'Traced.', default: false, aliases: ['OTHER_TRACED'] }),
  joinToken: Type.Optional(Type.String({ description: 'Joins.', secret: true, pattern: '^t-' })),
});

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keelson-settings-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const parse = async (
  text: string,
  environment: Record<string, string> = {},
): Promise<Config<typeof schema>> => {
  const path = join(folder, 'FILE');
  writeFileSync(path, text);
  return parseConfig(schema, environment, await readSettingsFile(path, '--config'));
};

describe('settings from a file', () => {
  test('have the values that their texts have in the environment', async () => {
    const text = 'http_port: 1\ntls_names: [a, "::1"]\nversion: 1.10\ntraced: TRUE\njoin_token:\n';
    expect(await parse(text)).toEqual({
      httpPort: 1,
      tlsNames: ['a', '::1'],
      version: '1.10',
      traced: true,
    });
    expect(await parse('tls_names: a,b')).toMatchObject({ tlsNames: ['a', 'b'] });
    for (const empty of ['', '# nothing\n', '---\n'])
      expect(await parse(empty)).toMatchObject({ httpPort: 8200 });
  });

  test('complete the environment, under any of its names', async () => {
    const text = 'http_port: 1\ntraced: false\nversion: "2"\n';
    const environment = { KEELSON_HTTP_PORT: '3', OTHER_TRACED: 'true', KEELSON_VERSION: '' };
    expect(await parse(text, environment)).toMatchObject({
      httpPort: 3,
      traced: true,
      version: '2',
    });
  });

  test.for([
    ['htpp_port: 1', 'htpp_port in PATH is not a setting of this process; did you mean http_port?'],
    [
      'KEELSON_HTTP_PORT: 1',
      'KEELSON_HTTP_PORT in PATH is not a setting of this process; did you mean http_port?',
    ],
    ['httpPort: 1', 'httpPort in PATH is not a setting of this process; did you mean http_port?'],
    ['http-port: 1', 'http-port in PATH is not a setting of this process; did you mean http_port?'],
    ['http_port: x', 'http_port in PATH must be a whole number of at least 0, not "x".'],
    ['join_token: hunter2', 'join_token in PATH must be text that matches ^t-.'],
    [
      'http_port: {a: 1}',
      '--config: http_port in PATH must be one value, or a list of values without commas.',
    ],
    [
      'tls_names: ["a,b"]',
      '--config: tls_names in PATH must be one value, or a list of values without commas.',
    ],
    [
      'http_port: 1\nhttp_port: 2',
      '--config: PATH is no valid YAML: Map keys must be unique at line 2, column 1:',
    ],
    ['- a', '--config: PATH must consist of lines such as "http_port: 8200".'],
    ['a: &x 1\nb: *x', '--config: aliases of YAML are not allowed.'],
    [`version: ${'x'.repeat(1_100_000)}`, '--config: PATH has more than 1048576 bytes.'],
  ] as const)('are refused if they are %o', async ([text, problem]) => {
    await expect(parse(text)).rejects.toThrow(problem.replace('PATH', join(folder, 'FILE')));
  });

  test('must exist', async () => {
    const path = join(folder, 'nowhere');
    await expect(readSettingsFile(path, 'KEELSON_CONFIG_FILE')).rejects.toThrow(
      `KEELSON_CONFIG_FILE: there is no ${path}.`,
    );
  });
});
