/**
 * The proofs of a release whose inputs have changed since they passed on this machine.
 *
 *   due-proofs.ts FOLDER                     prints the names of the due ones, one per line
 *   due-proofs.ts FOLDER --passed [NAME...]  notes that these have passed
 *
 * The folder keeps an empty file for each proof that has passed, named by the digest of its inputs. Without it, or
 * with changes that are not committed, every proof is due.
 */
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RELEASE_PROOFS, type ReleaseProof } from './proofs.ts';
import { REPOSITORY } from './repository.ts';

const git = (repository: string, ...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: repository, encoding: 'utf8', maxBuffer: 1 << 26 });

const isCommitted = (repository: string): boolean =>
  git(repository, 'status', '--porcelain') === '';

/** File that exists if the proof has passed with the committed content of its inputs and tests. */
const proofRecordOf = (repository: string, folder: string, proof: ReleaseProof): string => {
  // With the mode, content and path of each file.
  const list = (...patterns: readonly string[]) =>
    git(repository, 'ls-files', '--stage', '--', ...patterns);
  const listed = list(...proof.inputs, ':(exclude,glob)**/*.test.ts') + list(...proof.tests);
  return join(folder, `${proof.name}.${hash('sha256', listed)}`);
};

export const dueProofs = (repository: string, folder: string): readonly ReleaseProof[] =>
  isCommitted(repository)
    ? RELEASE_PROOFS.filter((proof) => !existsSync(proofRecordOf(repository, folder, proof)))
    : RELEASE_PROOFS;

/** Notes that proofs have passed, in place of their earlier notes. */
export const recordPassed = (
  repository: string,
  folder: string,
  names: readonly string[],
): void => {
  if (!isCommitted(repository)) return;
  mkdirSync(folder, { recursive: true });
  const earlier = readdirSync(folder);
  for (const proof of RELEASE_PROOFS.filter(({ name }) => names.includes(name))) {
    for (const note of earlier.filter((file) => file.startsWith(`${proof.name}.`)))
      rmSync(join(folder, note));
    writeFileSync(proofRecordOf(repository, folder, proof), '');
  }
};

if (import.meta.main) {
  const [folder = '', option, ...names] = process.argv.slice(2);
  if (option === '--passed') recordPassed(REPOSITORY, folder, names);
  else for (const { name } of dueProofs(REPOSITORY, folder)) process.stdout.write(`${name}\n`);
}
