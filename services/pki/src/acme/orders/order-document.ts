import type { JsonObject } from '@keelson/secrets-api';
import { formatTime } from '../../validity/domain/lifetime.ts';
import type { DirectoryUrls } from '../directories/domain/directory.ts';
import { storedProblem } from '../problems/problem-document.ts';
import { type Order, orderError, orderStatus } from './domain/order.ts';

export const orderDocument = (
  urls: DirectoryUrls,
  id: string,
  order: Order,
  nowMs: number,
): JsonObject => {
  const status = orderStatus(order, nowMs);
  return {
    status,
    expires: formatTime(order.expiresAtMs),
    identifiers: order.identifiers,
    ...(order.notBeforeMs !== undefined && { notBefore: formatTime(order.notBeforeMs) }),
    ...(order.notAfterMs !== undefined && { notAfter: formatTime(order.notAfterMs) }),
    ...(order.profile !== undefined && { profile: order.profile }),
    ...(order.replaces !== undefined && { replaces: order.replaces }),
    ...(status === 'invalid' && storedProblem(orderError(order))),
    authorizations: order.authorizations.map((_, index) => urls.authorization(id, index)),
    finalize: urls.finalize(id),
    ...(status === 'valid' && { certificate: urls.certificate(id, 0) }),
  };
};
