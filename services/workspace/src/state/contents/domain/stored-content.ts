import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** Bytes that are stored apart from the records describing them. */
export const storedContentShape = Type.Object({ id: Type.String(), sizeBytes: Type.Number() });
export type StoredContent = Shaped<typeof storedContentShape>;

/** The pieces of a content and where they are. */
export const storedBodyShape = Type.Object({
  place: Type.Enum(['records', 'objects']),
  /** SHA-256 of each piece as it is stored, in order. */
  digests: Type.Array(Type.String()),
});
export type StoredBody = Shaped<typeof storedBodyShape>;
