/** Bytes that are stored apart from the records describing them. */
export interface StoredContent {
  readonly id: string;
  readonly sizeBytes: number;
}

/** The pieces of a content and where they are. */
export interface StoredBody {
  readonly place: 'records' | 'objects';
  /** SHA-256 of each piece as it is stored, in order. */
  readonly digests: readonly string[];
}
