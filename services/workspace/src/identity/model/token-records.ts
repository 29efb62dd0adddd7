import { hash, randomBytes } from 'node:crypto';
import type { Reads } from '@keelson/storage';
import { keyedRecords } from '../../base/keyed-records.ts';
import type { ApiToken } from './domain/token.ts';

/** Keyed by the token's hash. */
export const tokenRecords = keyedRecords<ApiToken>('shared/tokens/');

/** Token id -> hash. */
export const tokenHashes = keyedRecords<{ readonly hash: string }>('shared/token-hashes/');

/** A token by its id; undefined after its deletion. The caller checks whether it has expired. */
export const findToken = async (reads: Reads, tokenId: string): Promise<ApiToken | undefined> => {
  const found = await tokenHashes.find(reads, tokenId);
  return found && tokenRecords.find(reads, found.hash);
};

/** Keyed by owner id, token id. */
export const ownedTokens = keyedRecords<Record<never, never>>('shared/owned-tokens/');

/** A token has 384 random bits, so that a plain digest of it cannot be found by brute force. */
export const hashToken = (text: string): string => hash('sha256', text);

const BASE62 = /[^A-Za-z0-9]/g;
const randomText = (length: number): string =>
  randomBytes(length * 2)
    .toString('base64')
    .replaceAll(BASE62, '')
    .slice(0, length);

/** Clients recognise the ".atlasv1." part in the middle. */
export const newTokenText = (): string => `${randomText(14)}.atlasv1.${randomText(67)}`;
