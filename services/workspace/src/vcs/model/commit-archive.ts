import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { looseContentShape } from '../../state/contents/state-content-operations.ts';

/** The stored files of a commit, with or without those of its submodules. */
export const commitArchiveShape = Type.Object({
  content: looseContentShape,
  /** By working directory. */
  readmes: Type.Array(Type.Object({ directory: Type.String(), text: nullable(Type.String()) })),
});
export type CommitArchive = Shaped<typeof commitArchiveShape>;

/** The archives of a commit that workspaces want. */
export const commitArchivesShape = Type.Object({
  plain: Type.Optional(commitArchiveShape),
  withSubmodules: Type.Optional(commitArchiveShape),
});
export type CommitArchives = Shaped<typeof commitArchivesShape>;
