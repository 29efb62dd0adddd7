/**
 * The port for the bytes of contents: pieces that are written once, in order, and read or removed later. They
 * lie in records of the store, or outside of it in object storage.
 */
import type { TransactOptions } from '@keelson/storage';
import type { StoredBody } from './domain/stored-content.ts';

export interface ContentBodies {
  /** Where the bytes are, as recorded with each content. */
  readonly place: StoredBody['place'];
  /** Size of all pieces but the last. */
  readonly pieceBytes: number;
  /** Time for which the bytes are kept after the last reference is gone. */
  readonly keepMs: number;
  /**
   * Resolves when the piece is stored durably.
   * @returns hexadecimal SHA-256 of the bytes as they are stored
   */
  write(contentId: string, index: number, bytes: Uint8Array): Promise<string>;
  /**
   * @param digest returned by `write`
   * @throws KeelsonError `objects.missing`, `objects.damaged`, `barrier.damaged_value` when the piece is not as
   * it was written
   */
  read(contentId: string, index: number, digest: string): Promise<Uint8Array>;
  /**
   * Removes pieces, a limited number at a time.
   * @returns true when there may be more
   */
  remove(contentId: string, options: TransactOptions): Promise<boolean>;
}

export interface ContentPlaces {
  /** Where new contents are stored. */
  readonly current: ContentBodies;
  /** Undefined if object storage is not configured. */
  find(place: StoredBody['place']): ContentBodies | undefined;
}
