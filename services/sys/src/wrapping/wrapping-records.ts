/**
 * A wrapped response is a secret in the cubbyhole of its single-use token: it can be found only with the
 * token, and is removed with it.
 */

import { collection, type Reads, type Transaction } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { cubbyholeOf } from '../cubbyhole/cubbyhole-records.ts';
import type { TokenRef } from '../tokens/token-records.ts';

export interface WrapInfo {
  readonly ttlSeconds: number;
  /** RFC 3339. */
  readonly creationTime: string;
  /** Path of the request whose response is wrapped. */
  readonly creationPath: string;
  readonly wrappedAccessor: string;
}

const RESPONSE = 'response';
const INFO = 'wrapinfo';

export const writeWrappedResponse = (
  tx: Transaction,
  token: TokenRef,
  response: string,
  info: WrapInfo,
): void => {
  const secrets = cubbyholeOf(token);
  secrets.write(tx, RESPONSE, { response });
  secrets.write(tx, INFO, {
    creation_ttl: info.ttlSeconds,
    creation_time: info.creationTime,
    creation_path: info.creationPath,
    wrapped_accessor: info.wrappedAccessor,
  });
};

export const findWrappedResponse = async (
  reads: Reads,
  token: TokenRef,
): Promise<string | undefined> => {
  const secret = await cubbyholeOf(token).find(reads, RESPONSE);
  return typeof secret?.['response'] === 'string' ? secret['response'] : undefined;
};

export const findWrapInfo = async (
  reads: Reads,
  token: TokenRef,
): Promise<WrapInfo | undefined> => {
  const secret = await cubbyholeOf(token).find(reads, INFO);
  return (
    secret && {
      ttlSeconds: Number(secret['creation_ttl']),
      creationTime: String(secret['creation_time']),
      creationPath: String(secret['creation_path']),
      wrappedAccessor: String(secret['wrapped_accessor']),
    }
  );
};

/** Key of JWT wrapping tokens; the same in every cluster of a replication set. */
export const wrappingKeyShape = Type.Object({ privateKeyPem: Type.String() });
export type WrappingKey = Shaped<typeof wrappingKeyShape>;

export const wrappingKeyRecords = collection('core/wrapping-key', {
  scope: 'shared',
  version: 1,
  keys: 'paths',
  shape: wrappingKeyShape,
});
export const WRAPPING_KEY = 'current';
