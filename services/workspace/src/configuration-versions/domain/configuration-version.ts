/** One upload of the files that runs of a workspace work on. */
type ConfigurationStatus =
  | 'pending'
  | 'uploaded'
  | 'archived'
  | 'backing_data_soft_deleted'
  | 'backing_data_permanently_deleted';

export interface ConfigurationVersion {
  /** `cv-…`. */
  readonly id: string;
  readonly workspaceId: string;
  readonly status: ConfigurationStatus;
  readonly statusTimesMs: { readonly [S in ConfigurationStatus]?: number };
  readonly source: string;
  /** A run is queued as soon as the files are there. */
  readonly autoQueueRuns: boolean;
  /** Its runs plan only. */
  readonly speculative: boolean;
  /** Its runs may save their plan and be applied later; it becomes current with an apply only. */
  readonly provisional: boolean;
  /** A tar archive under gzip; null before the upload and after its deletion. */
  readonly archive: { readonly id: string; readonly sizeBytes: number } | null;
  readonly createdById: string | null;
  /** A run was queued with it: its files are not replaced any more. */
  readonly hasRun: boolean;
  /** `at-…`, the token of the announcement: an upload may do what this token may do when it arrives. */
  readonly announcedWith: string;
  readonly createdAtMs: number;
}

/** Largest archive, in bytes. */
export const MAX_ARCHIVE_BYTES = 100 * 1024 * 1024;

export const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;
