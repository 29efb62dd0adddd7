import type { StoredRecord } from '../store.ts';

/** A record whose JSON is parsed on first access. */
export class ParsedRecord implements StoredRecord {
  readonly path: string;
  readonly value: Uint8Array;
  readonly version: number;
  #json: unknown;

  constructor(path: string, value: Uint8Array, version: number) {
    this.path = path;
    this.value = value;
    this.version = version;
  }

  get json(): unknown {
    this.#json ??= parseJson(this.value);
    return this.#json;
  }
}

export const parseJson = ({ buffer, byteOffset, length }: Uint8Array): unknown =>
  JSON.parse(Buffer.from(buffer, byteOffset, length).toString());
