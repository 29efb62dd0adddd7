/** Whether a challenge may be tried now (RFC 8555 §7.5.1, §8). */
import type { ChallengeType } from '../../orders/domain/challenge-types.ts';
import {
  type Authorization,
  authorizationStatus,
  type Order,
  orderStatus,
} from '../../orders/domain/order.ts';
import { malformed } from '../../problems/problem.ts';

/**
 * @returns false for a challenge that is in progress or decided, which is shown unchanged
 * @throws AcmeProblem `malformed` if there is no such challenge, or it can no longer be tried
 */
export const isStartable = (
  order: Order,
  authorization: Authorization,
  type: ChallengeType,
  nowMs: number,
): boolean => {
  const challenge = authorization.challenges.find((one) => one.type === type);
  if (challenge === undefined) throw malformed('there is no such challenge', { status: 404 });
  if (challenge.status !== 'pending') return false;
  const status = authorizationStatus(authorization, nowMs);
  if (status !== 'pending' || orderStatus(order, nowMs) === 'invalid')
    throw malformed(`the authorization is ${status}; its challenges can no longer be tried`);
  if (authorization.challenges.some((one) => one.status !== 'pending'))
    throw malformed('another challenge of this authorization was chosen');
  return true;
};
