/** The commit that an event in a repository is about, as its server has it now. */
import type { Commit, FetchedRepository } from './fetched-repository.ts';
import { RepositoryFailure } from './repository-failure.ts';

export interface CommitRequest {
  /** Full reference; null means the default branch. */
  readonly ref: string | null;
  /** Nothing is fetched unless this is the default branch; null means in any case. */
  readonly onlyIfDefaultBranch: string | null;
  /** Commit to compare with; null if the changed files do not matter. */
  readonly baseSha: string | null;
}

export interface FoundCommit {
  /** Empty in a repository without commits. */
  readonly defaultBranch: string;
  /** Null if `onlyIfDefaultBranch` is not the default branch. */
  readonly commit: Commit | null;
  /** Paths that differ from the commit to compare with; null if unknown. */
  readonly changedFiles: readonly string[] | null;
}

const findChanged = async (
  repository: FetchedRepository,
  folder: string,
  baseSha: string,
  sha: string,
): Promise<readonly string[] | null> => {
  try {
    await repository.fetch(folder, repository.cloneUrl, baseSha);
    return (await repository.changedFiles(folder, baseSha, sha)) ?? null;
  } catch (error) {
    // A server need not give out a commit that no reference names.
    if (error instanceof RepositoryFailure) return null;
    throw error;
  }
};

/** Fetches a commit. @param folder a repository of this fetch @throws RepositoryFailure */
export const findCommit = async (
  repository: FetchedRepository,
  folder: string,
  { ref, onlyIfDefaultBranch, baseSha }: CommitRequest,
): Promise<FoundCommit> => {
  const { defaultBranch } = await repository.lookUp();
  if (onlyIfDefaultBranch !== null && onlyIfDefaultBranch !== defaultBranch)
    return { defaultBranch, commit: null, changedFiles: null };
  if (ref === null && defaultBranch === '')
    throw new RepositoryFailure('the repository has no commits yet');
  const wanted = ref ?? `refs/heads/${defaultBranch}`;
  const sha = await repository.fetch(folder, repository.cloneUrl, wanted);
  const changedFiles =
    baseSha === null ? null : await findChanged(repository, folder, baseSha, sha);
  return { defaultBranch, commit: await repository.describe(folder, sha), changedFiles };
};
