/** Records that are bytes in a format of their own, such as DER. */
import { Type } from 'typebox';
import type { RecordScope } from '../store.ts';
import type { RecordCodec } from './codec.ts';
import { type Declaration, type FIRST_SEGMENT, type Owner, register } from './table.ts';

export interface BytesRecords {
  /** Ends with a slash. */
  readonly prefix: string;
  readonly declaration: Declaration;
}

const bytesCodec = (kind: string): RecordCodec<Uint8Array> => ({
  kind,
  version: 1,
  decode: (_, value) => value,
  encode: (_, value) => value as Uint8Array,
});

/** Declares records below `<scope>/<name>/`, which are read and written as bytes. */
export const bytesRecords = (
  name: string,
  { scope, owner }: { readonly scope: RecordScope; readonly owner: Owner<typeof FIRST_SEGMENT> },
): BytesRecords => ({
  prefix: `${scope}/${name}/`,
  declaration: register({
    name,
    scopes: [scope],
    isSingle: false,
    version: 1,
    shape: Type.Unknown(),
    codec: bytesCodec(`${scope}/${name}`),
    owners: [owner],
    deleteAt: (tx, path) => tx.delete(path),
  }),
});
