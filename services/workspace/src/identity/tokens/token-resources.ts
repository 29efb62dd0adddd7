/** Documents of tokens that exist, with their last use. */
import type { ResourceOf } from '@keelson/jsonapi';
import type { Reads } from '@keelson/storage';
import type { ApiToken } from '../model/domain/token.ts';
import { type AUTHENTICATION_TOKEN, toTokenResource } from './token-document.ts';
import { findLastUse } from './token-use-operations.ts';

export const loadTokenResource = async (
  reads: Reads,
  token: ApiToken,
): Promise<ResourceOf<typeof AUTHENTICATION_TOKEN>> =>
  toTokenResource(token, null, await findLastUse(reads, token.id));

export const loadTokenResources = (
  reads: Reads,
  tokens: readonly ApiToken[],
): Promise<ResourceOf<typeof AUTHENTICATION_TOKEN>[]> =>
  Promise.all(tokens.map((token) => loadTokenResource(reads, token)));
