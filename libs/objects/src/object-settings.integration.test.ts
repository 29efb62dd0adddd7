import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConfig } from '@keelson/config';
import { describe, expect, test } from 'vitest';
import { objectStorageSettings, openConfiguredStorage } from './object-settings.ts';

const PLACE = {
  KEELSON_OBJECT_STORAGE_ENDPOINT: 'https://s3.example.com',
  KEELSON_OBJECT_STORAGE_BUCKET: 'bodies',
  KEELSON_OBJECT_STORAGE_PREFIX: 'main/',
};
const KEYS = {
  KEELSON_OBJECT_STORAGE_ACCESS_KEY_ID: 'id',
  KEELSON_OBJECT_STORAGE_SECRET_ACCESS_KEY: 'hunter2',
};
const open = (environment: Readonly<Record<string, string>>) =>
  openConfiguredStorage(parseConfig(objectStorageSettings, environment));
const file = (text: string): string => {
  const path = join(mkdtempSync(join(tmpdir(), 'keelson-objects-')), 'credentials');
  writeFileSync(path, text);
  return path;
};
const FILE = 'KEELSON_OBJECT_STORAGE_CREDENTIALS_FILE';

describe('the settings of the object storage', () => {
  test('without any there is none', () => expect(open({})).toBeUndefined());

  test('name the place, with the bucket in the path or in the host name', () => {
    expect(open({ ...PLACE, ...KEYS })?.place).toBe('https://s3.example.com/bodies/main/');
    const virtual = { ...PLACE, ...KEYS, KEELSON_OBJECT_STORAGE_PATH_STYLE: 'false' };
    expect(open(virtual)?.place).toBe('https://bodies.s3.example.com/main/');
  });

  test('take the credentials from a file', () => {
    const text = '[default]\n aws_access_key_id = id\naws_secret_access_key=hun=ter2\n';
    expect(open({ ...PLACE, [FILE]: file(text) })?.place).toContain('bodies');
  });

  test.for([
    [{ KEELSON_OBJECT_STORAGE_ENDPOINT: 'https://s3.example.com' }, 'BUCKET go together'],
    [{ KEELSON_OBJECT_STORAGE_BUCKET: 'bodies' }, 'BUCKET go together'],
    [PLACE, `Set either ${FILE}, or KEELSON_OBJECT_STORAGE_ACCESS_KEY_ID`],
    [{ ...PLACE, KEELSON_OBJECT_STORAGE_ACCESS_KEY_ID: 'id' }, 'Set either'],
    [{ ...PLACE, ...KEYS, [FILE]: '/nowhere' }, 'Set either'],
    [{ ...PLACE, [FILE]: '/nowhere' }, '/nowhere: ENOENT'],
    [{ ...PLACE, [FILE]: file('aws_access_key_id = id') }, 'needs the lines'],
    [{ KEELSON_OBJECT_STORAGE_ENDPOINT: 's3.example.com' }, 'KEELSON_OBJECT_STORAGE_ENDPOINT'],
    [{ KEELSON_OBJECT_STORAGE_PREFIX: '../' }, 'KEELSON_OBJECT_STORAGE_PREFIX'],
    [{ KEELSON_OBJECT_STORAGE_PREFIX: 'main' }, 'KEELSON_OBJECT_STORAGE_PREFIX'],
    [{ KEELSON_OBJECT_STORAGE_BUCKET: 'A_B' }, 'KEELSON_OBJECT_STORAGE_BUCKET'],
    [{ KEELSON_OBJECT_STORAGE_TIMEOUT_SECONDS: '0' }, 'KEELSON_OBJECT_STORAGE_TIMEOUT_SECONDS'],
  ] as const)('that are wrong are refused by name: %o', ([environment, text]) => {
    expect(() => open(environment)).toThrow(text);
    expect(() => open(environment)).not.toThrow('hunter2');
  });
});
