import { type MountScope } from '@keelson/engine';
import type { IssuingParts } from '../../issuing/signing-operations.ts';
import { changeAuthorization, type Order } from '../orders/domain/order.ts';
import { requireOrder } from '../orders/order-operations.ts';
import { orderKey, orderRecords } from '../orders/order-records.ts';
import { malformed } from '../problems/problem.ts';

/** Deactivates an authorization, and with it its order (RFC 8555 §7.5.2). */
export const deactivateAuthorization = (
  { store }: IssuingParts,
  mount: MountScope,
  accountId: string,
  { orderId, index }: { readonly orderId: string; readonly index: number },
): Promise<Order> =>
  store.transact(async (tx) => {
    const order = await requireOrder(tx, mount, accountId, orderId);
    const status = order.authorizations[index]?.status;
    if (status !== 'pending' && status !== 'valid' && status !== 'deactivated')
      throw malformed(`an authorization that is ${status ?? 'not there'} cannot be deactivated`);
    const changed = changeAuthorization(order, index, (one) => ({
      ...one,
      status: 'deactivated',
    }));
    orderRecords(mount).write(tx, orderKey(accountId, orderId), changed);
    return changed;
  });
