/** Commits that git itself stores and serves, although no honest person makes them. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { RepositoryServer } from '@keelson/testkit';

/** A repository at the server of a test. */
export interface Target {
  readonly server: Pick<RepositoryServer, 'folder'>;
  readonly identifier: string;
  /** The first commit. */
  readonly first: string;
}

const IDENTITY = ['-c', 'user.name=Ada', '-c', 'user.email=ada@b.example'];

/** Runs git in the repository as it is served, without a working copy. */
export const git = ({ server, identifier }: Target, args: readonly string[], input = ''): string =>
  execFileSync('git', args, { cwd: join(server.folder, `${identifier}.git`), input })
    .toString()
    .trim();

export const storeFile = (target: Target, content: string): string =>
  git(target, ['hash-object', '-w', '--stdin'], content);

type TreeEntry = readonly [mode: string, type: string, id: string, name: string];

export const storeTree = (target: Target, entries: readonly TreeEntry[]): string => {
  const lines = entries.map(([mode, type, id, name]) => `${mode} ${type} ${id}\t${name}\0`);
  return git(target, ['mktree', '-z', '--missing'], lines.join(''));
};

/** Makes a tree the newest commit of the default branch. */
export const publish = (target: Target, tree: string): string => {
  const sha = git(target, [...IDENTITY, 'commit-tree', tree, '-m', 'Odd']);
  git(target, ['update-ref', 'refs/heads/main', sha]);
  return sha;
};

export const publishFiles = (target: Target, files: Readonly<Record<string, string>>): string =>
  publish(
    target,
    storeTree(
      target,
      Object.entries(files).map(([name, text]) => [
        '100644',
        'blob',
        storeFile(target, text),
        name,
      ]),
    ),
  );

/** A folder of ten folders, each of them the same, so deep; it has 10^depth files. */
export const nested = (target: Target, depth: number): string => {
  let tree = storeTree(target, [['100644', 'blob', storeFile(target, 'x'), 'f']]);
  for (let level = 0; level < depth; level += 1) {
    const names = Array.from({ length: 10 }, (_, at) => `d${at}`);
    tree = storeTree(
      target,
      names.map((name) => ['040000', 'tree', tree, name]),
    );
  }
  return tree;
};

/** A commit with links to submodules, and the text of .gitmodules about them. */
export const publishModules = (
  target: Target,
  modules: string,
  ...links: readonly (readonly [string, string])[]
): string =>
  publish(
    target,
    storeTree(target, [
      ['100644', 'blob', storeFile(target, modules), '.gitmodules'],
      ...links.map(([name, id]): TreeEntry => ['160000', 'commit', id, name]),
    ]),
  );

export const moduleAt =
  (url: string, more = '') =>
  (target: Target): string =>
    publishModules(target, `[submodule "m"]\n\tpath = m\n\turl = "${url}"\n${more}`, [
      'm',
      target.first,
    ]);
