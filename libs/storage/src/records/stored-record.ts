/** A record as it is read. */
export class StoredRecord {
  readonly path: string;
  /** Decrypted. */
  readonly value: Uint8Array;
  /** WAL sequence of the commit that last wrote the record; 0 while its transaction is open. */
  readonly version: number;
  #json: unknown;

  constructor(path: string, value: Uint8Array, version: number) {
    this.path = path;
    this.value = value;
    this.version = version;
  }

  /**
   * The value, where it is JSON: parsed when it is first asked for. The store hands out the same record
   * while it does not change, so all its readers share this, and none may change it.
   */
  get json(): unknown {
    this.#json ??= parseJson(this.value);
    return this.#json;
  }
}

export const parseJson = ({ buffer, byteOffset, length }: Uint8Array): unknown =>
  JSON.parse(Buffer.from(buffer, byteOffset, length).toString());
