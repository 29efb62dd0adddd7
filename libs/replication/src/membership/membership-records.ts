/**
 * Records of the primary of a set, for each kind of replication. They are local: they reach the DR secondaries,
 * which take the set over, and no performance secondary.
 */
import { collections, singleRecords } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { linkKeyPairShape } from '../cipher/link-key.ts';
import { FILTER_MODES } from '../domain/paths-filter.ts';

const setShape = Type.Object({
  clusterId: Type.String(),
  logId: Type.String(),
  keys: linkKeyPairShape,
  epoch: Type.Number(),
  promotion: Type.Number(),
});
export type SetRecord = Shaped<typeof setShape>;
export const sets = singleRecords('replication/*/set', {
  scopes: ['local'],
  version: 1,
  shape: setShape,
});

const epochShape = Type.Object({
  /** Base64. */
  key: Type.String(),
});
export type EpochRecord = Shaped<typeof epochShape>;
/** By number. */
export const epochKeys = collections('replication/*/epochs', {
  scopes: ['local'],
  version: 1,
  shape: epochShape,
});

const logShape = Type.Object({ logId: Type.String() });
export type LogRecord = Shaped<typeof logShape>;
/** The logs that services renewed alone, by service. */
export const logs = collections('replication/*/logs', {
  scopes: ['local'],
  version: 1,
  shape: logShape,
});

const secondaryShape = Type.Object({
  id: Type.String(),
  publicKey: Type.String(),
  /** It may not receive keys of older epochs. */
  firstEpoch: Type.Number(),
});
export type AdmittedSecondary = Shaped<typeof secondaryShape>;
export const secondaries = collections('replication/*/secondaries', {
  scopes: ['local'],
  version: 1,
  keys: 'paths',
  shape: secondaryShape,
});

const filterShape = Type.Object({
  mode: Type.Enum(FILTER_MODES),
  paths: Type.Array(Type.String()),
  generation: Type.String(),
  /** Mounts that `paths` named and that were moved since: where they are now, by uuid. */
  moved: Type.Record(Type.String(), Type.String()),
});
/** The filter of a secondary, as given by the operator and with the current paths of moved mounts. */
export type StoredFilter = Shaped<typeof filterShape>;
/** By secondary. */
export const filters = collections('replication/*/filters', {
  scopes: ['local'],
  version: 1,
  keys: 'paths',
  shape: filterShape,
});
