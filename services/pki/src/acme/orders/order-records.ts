/**
 * Orders of ACME clients. They are stored below their accounts, and their ids begin with their time, so a
 * listing is in order of creation.
 */
import { jsonRecords, type RecordCollection } from '@keelson/storage';
import { acmePrefix, type MountScope } from '../../mounts/mount-records.ts';
import type { Order } from './domain/order.ts';

/** Keys: "<account id>/<order id>". */
export const orderRecords = (mount: MountScope): RecordCollection<Order> =>
  jsonRecords(acmePrefix(mount, 'orders'));

/** The orders of one account, oldest first. Keys are their ids. */
export const ordersOf = (mount: MountScope, accountId: string): RecordCollection<Order> =>
  orderRecords(mount).below(accountId);

export const orderKey = (accountId: string, orderId: string): string => `${accountId}/${orderId}`;

/** Index from a certificate to its order; keys are serial numbers as in record paths. */
export interface CertificateOrigin {
  readonly accountId: string;
  readonly orderId: string;
  /** RFC 9773 §5: the order whose certificate replaced it. */
  readonly replacedByOrderId?: string | undefined;
}

export const certificateOriginRecords = (mount: MountScope): RecordCollection<CertificateOrigin> =>
  jsonRecords(acmePrefix(mount, 'certificates'));
