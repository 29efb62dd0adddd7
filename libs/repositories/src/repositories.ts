/** Commits are fetched from repositories and packed, and nothing of a repository is executed. */
export {
  type Commit,
  FetchedRepository,
  type FetchLimits,
  type FetchSource,
} from './fetched-repository.ts';
export { type CommitRequest, type FoundCommit, findCommit } from './find-commit.ts';
export { archiveCommit } from './repository-archive.ts';
export { RepositoryFailure } from './repository-failure.ts';
export { isSshAddress } from './ssh-address.ts';
export { withSshKey } from './ssh-key.ts';
