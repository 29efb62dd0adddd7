/**
 * Every form in which the project starts processes of its own: none opens a debugger on SIGUSR1, and none dumps a
 * core, as both would show the secrets in memory.
 *
 * | form                                       | no debugger                  | no core                      |
 * | ------------------------------------------ | ---------------------------- | ---------------------------- |
 * | `npm start`, `make`, the Debian command    | a flag of the command        | `ulimit` before it           |
 * | systemd                                    | a flag of the command        | `LimitCORE`                  |
 * | the images of control plane and agent      | a flag of the entry point    | `ulimit` in the entry point  |
 * | compose, chart, Kubernetes manifests       | the entry point of the image | the entry point of the image |
 * | commands in documents                      | a flag of the command        | left to the reader's shell   |
 * | processes that an own process starts       | a flag of the command        | inherited                    |
 * | `keelson` of npm, before it starts another | a handler of the signal      | left to the reader's shell   |
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { REPOSITORY } from './images.ts';

const FLAG = '--disable-sigusr1';

const read = (path: string): string => readFileSync(join(REPOSITORY, path), 'utf8');

const find = (...patterns: readonly string[]): readonly string[] =>
  globSync(patterns, { cwd: REPOSITORY, withFileTypes: true, exclude: ['**/node_modules'] })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(REPOSITORY.length))
    .toSorted();

/** A line in which Node starts a `main`; the groups are the flags of Node, the program, and what it is given. */
const COMMAND =
  /\bnode["'`]?,?((?: +--[\w-]+)*) +["']?([^\s"'`]*\b(?:main|container)\.[jt]s)\b["'`]?(.*)$/gm;
/** Programs of the repository that serve nobody, and end when they have said something. */
const TOOLS = /^(?:bench|deploy\/release|libs\/testkit)\/|^\$main\//;
const ANSWERS_ONLY = /^ --(?:help|version)/;

const serversIn = (path: string): readonly (readonly [program: string, flags: string])[] =>
  [...read(path).matchAll(COMMAND)]
    .filter(([, , program = '', given = '']) => !TOOLS.test(program) && !ANSWERS_ONLY.test(given))
    .map(([, flags = '', program = '']) => [`${path}: ${program}`, flags.trim()]);

test('commands in scripts, units, images and documents open no debugger', () => {
  const files = find(
    '{Makefile,package.json,*.md,*.yml}',
    'docs/**/*.md',
    '{libs,services}/*/*.md',
    'deploy/**/{Dockerfile,*.md,*.sh,*.yaml,*.service}',
    'deploy/release/debian/*',
  );
  const servers = files.flatMap(serversIn);
  expect(servers.filter(([, flags]) => flags !== FLAG)).toEqual([]);
  const named = servers.map(([name]) => name.replace(/:.*/, ''));
  expect(named).toEqual(
    expect.arrayContaining([
      'Makefile',
      'deploy/agent/Dockerfile',
      'deploy/release/debian/keelson',
      'deploy/release/debian/keelson.service',
      'docs/tutorials/terraform.md',
      'package.json',
    ]),
  );
});

test('an own process starts others so that they open no debugger', () => {
  const sources = find('{libs,services}/*/src/**/*.ts', 'deploy/agent/src/**/*.ts').filter(
    (path) => !/\.test\.ts$|^libs\/(?:testkit|testcontainers)\/|\/testdata\//.test(path),
  );
  const starts = sources.flatMap((path) =>
    [...read(path).matchAll(/\[process\.execPath,[^\]]*|spawn\(process\.execPath,[^\]]*/g)].map(
      ([text]) => [path, text] as const,
    ),
  );
  expect(starts.filter(([, text]) => !text.includes(FLAG))).toEqual([]);
  expect(starts.map(([path]) => path)).toEqual([
    'libs/agent/src/execution/executor-process.ts',
    'libs/sandbox/src/network/egress.ts',
    'libs/supervisor/src/supervisor.ts',
    'services/cli/src/commands/seal-commands.ts',
  ]);
});

test('images start everything without a debugger and without cores, and nothing replaces that', () => {
  const entry = /^ENTRYPOINT \["\/bin\/sh", "-c", "ulimit -c 0; exec \S*node --disable-sigusr1 /m;
  for (const image of ['deploy/images/Dockerfile', 'deploy/agent/Dockerfile'])
    expect([image, read(image)]).toEqual([image, expect.stringMatching(entry)]);
  // It is `command` in a pod, and `entrypoint` in compose.
  expect(read('docker-compose.yml').match(/\bentrypoint:.*/g)).toEqual([
    'entrypoint: [/bin/sh, /keelson/services/runner/without-link-local.sh]',
  ]);
  expect(read('services/runner/without-link-local.sh')).toMatch(
    /^ulimit -c 0\nexec setpriv [^"]*\/node --disable-sigusr1 "\$@"\n$/m,
  );
  const pods = find('deploy/{helm,kubernetes}/**/*.yaml').filter((path) =>
    /src\/main\.ts/.test(read(path)),
  );
  expect(pods).toHaveLength(6);
  expect(pods.filter((path) => /\bcommand:/.test(read(path)))).toEqual([]);
});

test('every form of a server limits the memory that glibc and V8 take under load', () => {
  const allocator =
    'glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=131072:glibc.malloc.arena_max=2';
  for (const file of [
    'Makefile',
    'package.json',
    'deploy/images/Dockerfile',
    'deploy/release/debian/keelson.service',
    'services/cli/src/commands/seal-commands.ts',
  ]) {
    const count = (what: string): number => read(file).split(what).length - 1;
    expect([file, count(allocator)]).toEqual([file, file === 'package.json' ? 2 : 1]);
    expect([file, count('--max-semi-space-size=16')]).toEqual([file, count(allocator)]);
  }
});

test('commands of the repository and of the Debian package leave no core', () => {
  const { scripts } = JSON.parse(read('package.json')) as {
    readonly scripts: { readonly start: string };
  };
  expect(scripts.start).toMatch(/^ulimit -c 0; /);
  const recipes = [...read('Makefile').matchAll(/^\t.*--disable-sigusr1.*$/gm)];
  expect(recipes).toHaveLength(2);
  for (const [recipe] of recipes) expect(recipe).toMatch(/^\t@ulimit -c 0; /);
  expect(read('deploy/release/debian/keelson')).toMatch(/^ulimit -c 0$/m);
  expect(read('deploy/release/debian/keelson.service')).toMatch(/^LimitCORE=0$/m);
});
