/**
 * The OpenAPI documents that a standalone process serves.
 *
 * | address                   | describes                 | server    |
 * | ------------------------- | ------------------------- | --------- |
 * | `/openapi/workspace.json` | the workspace API         | `/api/v2` |
 * | `/openapi/pki.json`       | the certificate authority | `/v1`     |
 * | `/openapi/sys.json`       | the administration        | `/v1`     |
 */
import { join } from 'node:path';
import {
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

interface Operation {
  readonly operationId: string;
  readonly security?: readonly unknown[];
  readonly 'x-methods'?: readonly string[];
}

interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

let folder: TemporaryDirectory;
let keelson: KeelsonProcess;
beforeAll(async () => {
  folder = await temporaryDirectory();
  keelson = await startKeelson({ dataFolder: join(folder.path, 'data') });
});
afterAll(async () => {
  await keelson.stop();
  await folder[Symbol.asyncDispose]();
});

const text = async (name: string): Promise<string> =>
  (await fetch(`${keelson.http}/openapi/${name}.json`)).text();
const document = async (name: string): Promise<Document> =>
  JSON.parse(await text(name)) as Document;

describe.for([
  ['workspace', '/api/v2', '/workspaces/{workspace_id}'],
  ['pki', '/v1', '/{mount}/issue/{name}'],
  ['sys', '/v1', '/sys/seal-status'],
] as const)('the OpenAPI document %s', ([name, server, path]) => {
  test('breaks none of the recommended rules of redocly', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: await text(name), config });
    const errors = problems.filter(({ severity }) => severity === 'error');
    expect(
      errors.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
    ).toEqual([]);
  });

  test(`describes paths below ${server}`, async () => {
    const { servers, paths } = await document(name);
    expect([servers, Object.keys(paths)]).toEqual([
      [{ url: server }],
      expect.arrayContaining([path]),
    ]);
  });
});

test('the workspace API serves the same document where client generators look for it', async () => {
  const stable = await fetch(`${keelson.http}/api/v2/openapi/stable.json`);
  expect(await stable.json()).toEqual(await document('workspace'));
});

test('an operation that needs no token says so', async () => {
  const [{ paths: sys }, { paths: pki }] = [await document('sys'), await document('pki')];
  expect(sys['/sys/seal-status']?.['get']?.security).toEqual([]);
  expect(sys['/sys/mounts']?.['get']?.security).toBeUndefined();
  expect(pki['/{mount}/issuer/{issuer_ref}/pem']?.['get']?.security).toEqual([]);
  expect(pki['/{mount}/acme/new-order']?.['post']?.security).toEqual([]);
  expect(pki['/{mount}/issue/{name}']?.['post']?.security).toBeUndefined();
});

test('methods that mean the same are one operation', async () => {
  const { paths } = await document('pki');
  expect(Object.keys(paths['/{mount}/roles'] ?? {})).toEqual(['get']);
  expect(paths['/{mount}/roles']?.['get']).toMatchObject({
    operationId: 'list_mount_roles',
    parameters: expect.arrayContaining([
      expect.objectContaining({ name: 'mount', in: 'path' }),
      expect.objectContaining({ name: 'list', required: true }),
    ]),
    'x-methods': ['LIST'],
  });
  expect(Object.keys(paths['/{mount}/issue/{name}'] ?? {})).toEqual(['post']);
  expect(paths['/{mount}/issue/{name}']?.['post']?.['x-methods']).toEqual(['POST', 'PUT']);
});
