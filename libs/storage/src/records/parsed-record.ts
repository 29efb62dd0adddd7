import type { RecordDecoder, StoredRecord } from '../store.ts';

/** A record that is decoded when it is first read as one of its kind. */
export class ParsedRecord implements StoredRecord {
  readonly path: string;
  readonly value: Uint8Array;
  readonly version: number;
  #decoded: { readonly by: RecordDecoder<unknown>; readonly value: unknown } | undefined;

  constructor(path: string, value: Uint8Array, version: number) {
    this.path = path;
    this.value = value;
    this.version = version;
  }

  /** Decoded once, as long as all readers use the same decoder. */
  as<T>(decoder: RecordDecoder<T>): T {
    if (this.#decoded?.by === decoder) return this.#decoded.value as T;
    const value = decoder.decode(this.path, this.value);
    this.#decoded = { by: decoder, value };
    return value;
  }
}

export const parseJson = ({ buffer, byteOffset, length }: Uint8Array): unknown =>
  JSON.parse(Buffer.from(buffer, byteOffset, length).toString());
