/** Commits are fetched from repositories and packed, and nothing of a repository is executed. */
export { fetchCommit } from './fetch-task.ts';
export type { Commit, FetchLimits, FetchSource } from './fetched-repository.ts';
export type { CommitRequest, FoundCommit } from './find-commit.ts';
export { RepositoryFailure } from './repository-failure.ts';
export { isSshAddress } from './ssh-address.ts';
export { type SshAgent, toAgentEnvironment, withSshKey } from './ssh-key.ts';
