/**
 * Orders with their authorizations and challenges (RFC 8555 §7.1.3–7.1.6), and their state
 * transitions. An authorization belongs to one order and is part of its record, so that all data
 * that decides about an order is read and written together.
 */

import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { type Problem, problemShape } from '../../problems/problem.ts';
import { type ChallengeType, challengeTypeShape } from './challenge-types.ts';
import { identifierShape } from './identifier.ts';

export type OrderStatus = 'pending' | 'ready' | 'processing' | 'valid' | 'invalid';
export type AuthorizationStatus = 'pending' | 'valid' | 'invalid' | 'deactivated' | 'expired';
export const challengeStatusShape = Type.Enum(['pending', 'processing', 'valid', 'invalid']);

export const challengeShape = Type.Object({
  type: challengeTypeShape,
  token: Type.String(),
  status: challengeStatusShape,
  validatedAtMs: Type.Optional(Type.Number()),
  /** Problem of the latest failed attempt. */
  error: Type.Optional(problemShape),
});
export type Challenge = Shaped<typeof challengeShape>;

export const authorizationShape = Type.Object({
  /** Without "*.". */
  identifier: identifierShape,
  wildcard: Type.Boolean(),
  /** `expired` is never stored, because it follows from `expiresAtMs`. */
  status: Type.Enum(['pending', 'valid', 'invalid', 'deactivated']),
  expiresAtMs: Type.Number(),
  challenges: Type.Array(challengeShape),
});
export type Authorization = Shaped<typeof authorizationShape>;

/** The certificate issued for an order. */
export const orderedCertificateShape = Type.Object({
  /** As in record paths. */
  serialKey: Type.String(),
  issuerId: Type.String(),
  notAfterMs: Type.Number(),
});

export const orderShape = Type.Object({
  accountId: Type.String(),
  /** Path of the directory where it was created: "roles/web/acme/". */
  directory: Type.String(),
  identifiers: Type.Array(identifierShape),
  notBeforeMs: Type.Optional(Type.Number()),
  notAfterMs: Type.Optional(Type.Number()),
  profile: Type.Optional(Type.String()),
  /** RFC 9773 §5: id of the certificate that this order's certificate replaces. */
  replaces: Type.Optional(Type.String()),
  createdAtMs: Type.Number(),
  expiresAtMs: Type.Number(),
  authorizations: Type.Array(authorizationShape),
  /** Final status, once decided by the server; other statuses follow from the authorizations. */
  outcome: Type.Optional(Type.Enum(['valid', 'invalid'])),
  error: Type.Optional(problemShape),
  certificate: Type.Optional(orderedCertificateShape),
});
export type Order = Shaped<typeof orderShape>;

/** Time that a client has to complete an order (reference §7.8). */
export const ORDER_LIFETIME_MS = 24 * 3600 * 1000;

/** Validity of a valid authorization (reference §7.9). */
const VALID_AUTHORIZATION_MS = 15 * 24 * 3600 * 1000;

export const authorizationStatus = (
  { status, expiresAtMs }: Authorization,
  nowMs: number,
): AuthorizationStatus =>
  (status === 'pending' || status === 'valid') && expiresAtMs <= nowMs ? 'expired' : status;

/** RFC 8555 §7.1.6. */
export const orderStatus = (order: Order, nowMs: number): OrderStatus => {
  if (order.outcome !== undefined) return order.outcome;
  if (order.expiresAtMs <= nowMs) return 'invalid';
  const statuses = order.authorizations.map((one) => authorizationStatus(one, nowMs));
  if (statuses.some((status) => status !== 'pending' && status !== 'valid')) return 'invalid';
  return statuses.every((status) => status === 'valid') ? 'ready' : 'pending';
};

/** The error shown for an order that became invalid because a challenge failed. */
export const orderError = (order: Order): Problem | undefined => {
  if (order.error !== undefined) return order.error;
  const failed = order.authorizations.flatMap(({ identifier, status, challenges }) => {
    const error =
      status === 'invalid' ? challenges.find((one) => one.status === 'invalid') : undefined;
    return error?.error === undefined ? [] : [{ ...error.error, identifier }];
  });
  const [first] = failed;
  return first && { type: first.type, detail: first.detail, subproblems: failed };
};

/** Returns the order with one of its authorizations changed. */
export const changeAuthorization = (
  order: Order,
  index: number,
  change: (authorization: Authorization) => Authorization,
): Order => ({
  ...order,
  authorizations: order.authorizations.map((one, at) => (at === index ? change(one) : one)),
});

const changeChallenge = (
  authorization: Authorization,
  type: ChallengeType,
  change: Partial<Challenge>,
): Authorization => ({
  ...authorization,
  challenges: authorization.challenges.map((one) =>
    one.type === type ? { ...one, ...change } : one,
  ),
});

/** Applies the client's message that it is ready for the challenge. */
export const beginChallenge = (authorization: Authorization, type: ChallengeType): Authorization =>
  changeChallenge(authorization, type, { status: 'processing' });

/** After a successful attempt, the challenge and its authorization are valid. */
export const completeChallenge = (
  authorization: Authorization,
  type: ChallengeType,
  nowMs: number,
): Authorization => ({
  ...changeChallenge(authorization, type, {
    status: 'valid',
    validatedAtMs: nowMs,
    error: undefined,
  }),
  status: 'valid',
  expiresAtMs: nowMs + VALID_AUTHORIZATION_MS,
});

/**
 * After a failed attempt that will be repeated, the challenge shows the problem (RFC 8555 §8.2).
 */
export const recordFailedAttempt = (
  authorization: Authorization,
  type: ChallengeType,
  error: Problem,
): Authorization => changeChallenge(authorization, type, { error });

/** After the last failed attempt, the challenge and its authorization are invalid. */
export const failChallenge = (
  authorization: Authorization,
  type: ChallengeType,
  error: Problem,
): Authorization => ({
  ...changeChallenge(authorization, type, { status: 'invalid', error }),
  status: 'invalid',
});
