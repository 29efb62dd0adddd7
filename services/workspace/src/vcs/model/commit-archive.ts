import type { LooseContent } from '../../state/contents/state-content-operations.ts';

/** The stored files of a commit, with or without those of its submodules. */
export interface CommitArchive {
  readonly content: LooseContent;
  /** By working directory. */
  readonly readmes: readonly { readonly directory: string; readonly text: string | null }[];
}

/** The archives of a commit that workspaces want. */
export interface CommitArchives {
  readonly plain?: CommitArchive | undefined;
  readonly withSubmodules?: CommitArchive | undefined;
}
