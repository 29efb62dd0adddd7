/** The tests that run before a release: which of them are due, in a repository made here. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { dueProofs, recordPassed } from '../release/src/due-proofs.ts';
import { sourcesOf } from '../release/src/package-sources.ts';
import { RELEASE_PROOFS } from '../release/src/proofs.ts';
import { REPOSITORY } from './images.ts';

const git = (repository: string, ...args: readonly string[]): string => {
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@b.example'];
  return execFileSync('git', [...identity, ...args], { cwd: repository, encoding: 'utf8' });
};

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

const write = (repository: string, path: string, content: string): void => {
  mkdirSync(dirname(join(repository, path)), { recursive: true });
  writeFileSync(join(repository, path), content);
};

const commit = (repository: string): void => {
  git(repository, 'add', '--all');
  git(repository, 'commit', '--quiet', '--message', 'a commit');
};

test('every test and every input of a proof exists', () => {
  const tests = RELEASE_PROOFS.flatMap((proof) => proof.tests);
  expect(tests.filter((file) => !existsSync(join(REPOSITORY, file)))).toEqual([]);
  const inputs = new Set(RELEASE_PROOFS.flatMap((proof) => proof.inputs));
  const unmatched = [...inputs].filter((input) => git(REPOSITORY, 'ls-files', '--', input) === '');
  expect(unmatched).toEqual([]);
});

test('the sources of a package contain those of what it depends on, and no others', () => {
  const sources = sourcesOf('services/runner');
  expect(sources).toEqual(expect.arrayContaining(['services/runner/src', 'libs/agent/src']));
  // The package of the agent depends on this one.
  expect(sources).toContain('libs/repositories/src');
  expect(sources).not.toContain('services/pki/src');
});

test('a proof is due until it has passed, and again once one of its inputs has changed', () => {
  const [repository, notes] = [newFolder(), join(newFolder(), 'notes')];
  git(repository, 'init', '--quiet');
  write(repository, 'docs/backup.md', 'a page');
  write(repository, 'libs/storage/src/store.ts', 'a source');
  commit(repository);
  const due = () => dueProofs(repository, notes).map(({ name }) => name);
  const all = RELEASE_PROOFS.map(({ name }) => name);
  expect(due()).toEqual(all);
  recordPassed(repository, notes, ['site']);
  expect(due()).toEqual(all.filter((name) => name !== 'site'));
  recordPassed(repository, notes, all);
  expect(due()).toEqual([]);
  write(repository, 'docs/backup.md', 'another page');
  expect(due()).toEqual(all);
  recordPassed(repository, notes, all);
  commit(repository);
  expect(due()).toEqual(['site']);
  write(repository, 'libs/storage/src/store.ts', 'another source');
  commit(repository);
  expect(due()).toEqual([
    'threads',
    'site',
    'console',
    'upgrades',
    'replication',
    'storage',
    'faults',
    'benches',
  ]);
  recordPassed(repository, notes, all);
  write(repository, 'libs/storage/src/store.test.ts', 'a test');
  commit(repository);
  expect(due()).toEqual([]);
});
