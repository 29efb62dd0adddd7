/** Bytes that are stored apart from the records describing them. */
export interface StoredContent {
  readonly id: string;
  readonly sizeBytes: number;
}
