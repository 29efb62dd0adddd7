/**
 * Orders of ACME clients. They are stored below their accounts, and their ids begin with their time, so a
 * listing is in order of creation.
 */

import { type MountScope } from '@keelson/engine';
import type { RecordCollection } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { acmeRecords } from '../../mounts/mount-records.ts';
import { type Order, orderShape } from './domain/order.ts';

/** Keys: "<account id>/<order id>". */
export const orderRecords = acmeRecords('orders', { version: 1, shape: orderShape });

/** The orders of one account, oldest first. Keys are their ids. */
export const ordersOf = (mount: MountScope, accountId: string): RecordCollection<Order> =>
  orderRecords(mount).below(accountId);

export const orderKey = (accountId: string, orderId: string): string => `${accountId}/${orderId}`;

/** Index from a certificate to its order; keys are serial numbers as in record paths. */
export const certificateOriginShape = Type.Object({
  accountId: Type.String(),
  orderId: Type.String(),
  /** RFC 9773 §5: the order whose certificate replaced it. */
  replacedByOrderId: Type.Optional(Type.String()),
});
export type CertificateOrigin = Shaped<typeof certificateOriginShape>;

export const certificateOriginRecords = acmeRecords('certificates', {
  version: 1,
  shape: certificateOriginShape,
});
