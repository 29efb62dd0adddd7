/**
 * Reading one's own writes on another cluster: answers to writes tell how far the log of the service
 * went, and a request that tells it is served once this cluster has come that far.
 */
import type { EdgeResponse } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { Dialect, type RequestHead } from '@keelson/proto/edge/v1/edge';
import { type LogIndex, openIndex, sealIndex } from './log-index.ts';
import type { ReplicationMember } from './replication-member.ts';

/** The names it has on requests inside of a cluster; clients may use those of the gateway. */
export const INDEX_HEADER = 'x-service-index';
const VENDOR_INDEX_HEADER = 'x-vault-index';
const REACH_WITHIN_MS = 2000;
/** What clients merge is two or three; more are nobody's. */
const MAX_INDICES = 8;

const indicesIn = (key: Uint8Array, header: string): readonly LogIndex[] =>
  header
    .split(',', MAX_INDICES)
    .map((one) => openIndex(key, one.trim()))
    .filter((index) => index !== undefined);

/**
 * Waits until what the header names can be read here. Indices of other services, and of logs that this
 * cluster knows to be over, are not waited for.
 * @throws KeelsonError `replication.index_missing`
 */
export const awaitIndex = async (member: ReplicationMember, header: string): Promise<void> => {
  const key = member.indexKey;
  if (key === undefined) return;
  for (const { logId, replicated: sequence } of indicesIn(key, header))
    if (!(await member.reaches({ logId, sequence }, REACH_WITHIN_MS)))
      throw new KeelsonError('replication.index_missing');
};

/** The answer to a write, with how far the log goes that holds it. */
export const withIndex = async (
  member: ReplicationMember,
  { dialect }: RequestHead,
  response: EdgeResponse,
): Promise<EdgeResponse> => {
  const key = member.indexKey;
  const { head } = response;
  if (key === undefined || head.status >= 400) return response;
  // The primary has told its own.
  if (head.headers.some(({ name }) => name === INDEX_HEADER)) return response;
  const index = await member.index();
  if (index === undefined) return response;
  const value = sealIndex(key, index);
  const headers = [...head.headers, { name: INDEX_HEADER, value }];
  if (dialect === Dialect.VENDOR) headers.push({ name: VENDOR_INDEX_HEADER, value });
  return { ...response, head: { ...head, headers } };
};
