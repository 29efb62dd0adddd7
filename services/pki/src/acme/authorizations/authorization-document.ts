import type { JsonObject } from '@keelson/secrets-api';
import { formatTime } from '../../validity/domain/lifetime.ts';
import type { DirectoryUrls } from '../directories/domain/directory.ts';
import { type Authorization, authorizationStatus, type Challenge } from '../orders/domain/order.ts';
import { storedProblem } from '../problems/problem-document.ts';

/** Position of an authorization: its order, and its index there. */
export interface AuthorizationRef {
  readonly orderId: string;
  readonly index: number;
}

export const challengeDocument = (
  urls: DirectoryUrls,
  { orderId, index }: AuthorizationRef,
  { type, status, token, validatedAtMs, error }: Challenge,
): JsonObject => ({
  type,
  url: urls.challenge(orderId, index, type),
  status,
  token,
  ...(validatedAtMs !== undefined && { validated: formatTime(validatedAtMs) }),
  ...storedProblem(error),
});

/** RFC 8555 §7.1.4: all challenges while pending, afterwards the one that decided. */
const visibleChallenges = ({ status, challenges }: Authorization): readonly Challenge[] => {
  if (status === 'valid') return challenges.filter((one) => one.status === 'valid');
  if (status === 'invalid') return challenges.filter((one) => one.status === 'invalid');
  return challenges;
};

export const authorizationDocument = (
  urls: DirectoryUrls,
  place: AuthorizationRef,
  authorization: Authorization,
  nowMs: number,
): JsonObject => ({
  identifier: authorization.identifier,
  status: authorizationStatus(authorization, nowMs),
  expires: formatTime(authorization.expiresAtMs),
  ...(authorization.wildcard && { wildcard: true }),
  challenges: visibleChallenges(authorization).map((one) => challengeDocument(urls, place, one)),
});
