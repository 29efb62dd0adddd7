/** One upload of configuration files for the runs of a workspace. */
export const CONFIGURATION_STATUSES = [
  'pending',
  'uploaded',
  'errored',
  'archived',
  'backing_data_soft_deleted',
  'backing_data_permanently_deleted',
] as const;
type ConfigurationStatus = (typeof CONFIGURATION_STATUSES)[number];

/** The commit that the files are from. */
export interface Ingress {
  /** `:org/:repo`. */
  readonly identifier: string;
  readonly cloneUrl: string;
  readonly commitSha: string;
  readonly commitMessage: string;
  readonly commitUrl: string;
  readonly compareUrl: string | null;
  /** "" for a tag. */
  readonly branch: string;
  readonly tag: string | null;
  readonly onDefaultBranch: boolean;
  readonly pullRequest: {
    readonly number: number;
    readonly title: string;
    readonly body: string;
    readonly url: string | null;
  } | null;
  readonly sender: {
    readonly username: string;
    readonly avatarUrl: string | null;
    readonly htmlUrl: string | null;
  } | null;
}

export interface ConfigurationVersion {
  /** `cv-…`. */
  readonly id: string;
  readonly workspaceId: string;
  readonly status: ConfigurationStatus;
  readonly statusTimesMs: { readonly [S in ConfigurationStatus]?: number };
  readonly source: string;
  /** Whether a run is queued as soon as the files are uploaded. */
  readonly autoQueueRuns: boolean;
  /** Whether its runs are plan-only. */
  readonly speculative: boolean;
  /**
   * Provisional: its runs may save their plan and be applied later, and it becomes current only by an apply.
   */
  readonly provisional: boolean;
  /** Absent for uploads, and where the repository could not be fetched. */
  readonly ingress?: Ingress;
  /** Why there are no files; absent unless the status is `errored`. */
  readonly errorMessage?: string;
  /** A gzipped tar archive; null before the upload and after its deletion. */
  readonly archive: { readonly id: string; readonly sizeBytes: number } | null;
  readonly createdById: string | null;
  /** Whether a run uses it. Its files can then no longer be replaced. */
  readonly hasRun: boolean;
  /**
   * `at-…`, the token of the announcement: an upload may do what this token may do when it arrives. null for a
   * configuration from a repository.
   */
  readonly announcedWith: string | null;
  readonly createdAtMs: number;
}

/** Largest archive, in bytes. */
export const MAX_ARCHIVE_BYTES = 100 * 1024 * 1024;

export const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;
