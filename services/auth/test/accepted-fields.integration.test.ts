/**
 * Every field of a request is one that a test of its method sends, so that none is accepted without an effect that
 * somebody has seen. The fields of tokens are those of all methods.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenAuth, openAuth } from './open-auth.ts';

interface Operation {
  readonly requestBody?: {
    readonly content: Readonly<
      Record<
        string,
        { readonly schema: { readonly properties: Readonly<Record<string, unknown>> } }
      >
    >;
  };
}

let auth: OpenAuth;
beforeAll(async () => {
  auth = await openAuth();
});
afterAll(() => auth.close());

/** Names that settings of tokens have in several methods, in addition to those that begin with `token_`. */
const OLDER_NAMES = ['policies', 'ttl', 'max_ttl', 'period', 'num_uses', 'bound_cidrs'];

const SOURCES = join(import.meta.dirname, '../src');
const textsOf = (folder: string): string =>
  globSync(`${folder}/**/*.test.ts`, { cwd: SOURCES })
    .map((file) => readFileSync(join(SOURCES, file), 'utf8'))
    .join('\n');

test('every field of a request is sent by a test of its method', async () => {
  const { pathsJson } = await auth.service.edge.describe();
  const paths = JSON.parse(pathsJson) as Record<string, Readonly<Record<string, Operation>>>;
  const all = textsOf('*');
  const untried = new Set<string>();
  let fields = 0;
  for (const [path, { post }] of Object.entries(paths)) {
    const [, method = ''] = path.split('/');
    const [content] = Object.values(post?.requestBody?.content ?? {});
    const tests = textsOf(method);
    for (const name of Object.keys(content?.schema.properties ?? {})) {
      fields += 1;
      const isOfTokens = name.startsWith('token_') || OLDER_NAMES.includes(name);
      if (!new RegExp(`\\b${name}\\b`).test(isOfTokens ? all : tests))
        untried.add(`${method} ${name}`);
    }
  }
  expect(fields).toBeGreaterThan(200);
  expect([...untried]).toEqual([]);
});
