/** No file of a deployment has a secret that everybody knows. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/** Values with which people leave examples as they are. */
const KNOWN =
  'change[-_ ]?(?:this|me|it)|keelson|postgres|replicator|password|passw0rd|secret|admin|root|guest|test|example|redis|nats|default|minioadmin|12345\\d*';

const PATTERNS = [
  // Anywhere, whatever it is for.
  /change[-_]?(?:this|me)\b/i,
  // A setting, in YAML, INI, shell, TypeScript and Redis.
  new RegExp(
    `(?:[Pp]assword|PASSWORD|[Ss]ecret|SECRET|[Tt]oken|TOKEN|requirepass|masterauth)"?'?\\s*[:= ]\\s*["']?(?:${KNOWN})["']?\\s*(?:[,;}\\])]|$)`,
    'm',
  ),
  // A URL with a password. Capitals stand for what the reader has to put in.
  new RegExp(`://[^/\\s:@]*:(?:${KNOWN})@`),
];

const isShipped = (path: string): boolean =>
  !/(?:^|\/)(?:node_modules|testdata|test|dist|strict-manifests)\/|\.test\.ts$/.test(path);

const files = globSync(
  ['deploy/**/*.*', 'deploy/**/Dockerfile*', 'docker-compose.yml', 'Makefile', '.ci/**/*'],
  { cwd: ROOT, exclude: (path) => /node_modules/.test(path) },
).filter((path) => isShipped(path) && !/\.(?:png|svg|woff2?|tgz|gz)$/.test(path));

const secretsOf = (text: string): readonly string[] =>
  PATTERNS.flatMap((pattern) => pattern.exec(text)?.[0] ?? []);

test.for([
  'superuser: { username: postgres, password: change-this }',
  'requirepass secret\n',
  'POSTGRES_PASSWORD=keelson\n',
  'postgres://postgres:postgres@database/keelson',
  "password: 'admin'\n",
])('%s is found', (text) => {
  expect(secretsOf(text)).not.toEqual([]);
});

test('every file of a deployment is without one', () => {
  expect(files.length).toBeGreaterThan(40);
  const found = files.flatMap((path) => {
    try {
      return secretsOf(readFileSync(join(ROOT, path), 'utf8')).map((text) => `${path}: ${text}`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EISDIR') return [];
      throw error;
    }
  });
  expect(found).toEqual([]);
});
