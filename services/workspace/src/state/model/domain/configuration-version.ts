import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** One upload of configuration files for the runs of a workspace. */
export const CONFIGURATION_STATUSES = [
  'pending',
  'uploaded',
  'errored',
  'archived',
  'backing_data_soft_deleted',
  'backing_data_permanently_deleted',
] as const;
const configurationStatusShape = Type.Enum(CONFIGURATION_STATUSES);

/** The commit that the files are from. */
export const ingressShape = Type.Object({
  /** `:org/:repo`. */
  identifier: Type.String(),
  cloneUrl: Type.String(),
  commitSha: Type.String(),
  commitMessage: Type.String(),
  commitUrl: Type.String(),
  compareUrl: nullable(Type.String()),
  /** "" for a tag. */
  branch: Type.String(),
  tag: nullable(Type.String()),
  onDefaultBranch: Type.Boolean(),
  pullRequest: nullable(
    Type.Object({
      number: Type.Number(),
      title: Type.String(),
      body: Type.String(),
      url: nullable(Type.String()),
    }),
  ),
  sender: nullable(
    Type.Object({
      username: Type.String(),
      avatarUrl: nullable(Type.String()),
      htmlUrl: nullable(Type.String()),
    }),
  ),
});
export type Ingress = Shaped<typeof ingressShape>;

export const configurationVersionShape = Type.Object({
  /** `cv-…`. */
  id: Type.String(),
  workspaceId: Type.String(),
  status: configurationStatusShape,
  statusTimesMs: Type.Partial(Type.Record(configurationStatusShape, Type.Number())),
  source: Type.String(),
  /** Whether a run is queued as soon as the files are uploaded. */
  autoQueueRuns: Type.Boolean(),
  /** Whether its runs are plan-only. */
  speculative: Type.Boolean(),
  /**
   * Provisional: its runs may save their plan and be applied later, and it becomes current only by an apply.
   */
  provisional: Type.Boolean(),
  /** Absent for uploads, and where the repository could not be fetched. */
  ingress: Type.Optional(ingressShape),
  /** Why there are no files; absent unless the status is `errored`. */
  errorMessage: Type.Optional(Type.String()),
  /** A gzipped tar archive; null before the upload and after its deletion. */
  archive: nullable(Type.Object({ id: Type.String(), sizeBytes: Type.Number() })),
  createdById: nullable(Type.String()),
  /** Whether a run uses it. Its files can then no longer be replaced. */
  hasRun: Type.Boolean(),
  /**
   * `at-…`, the token of the announcement: an upload may do what this token may do when it arrives. null for a
   * configuration from a repository.
   */
  announcedWith: nullable(Type.String()),
  createdAtMs: Type.Number(),
});
export type ConfigurationVersion = Shaped<typeof configurationVersionShape>;

/** Largest archive, in bytes. */
export const MAX_ARCHIVE_BYTES = 100 * 1024 * 1024;

export const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;
