/** Accounts and orders as the management endpoints return them. */
import type { JsonObject } from '@keelson/secrets-api';
import { formatTime } from '../../validity/domain/lifetime.ts';
import type { Account, AccountBinding } from '../accounts/domain/account.ts';
import type { ManagedOrder } from './account-management-operations.ts';

const bindingDocument = (binding: AccountBinding | undefined, directory: string): JsonObject =>
  binding === undefined
    ? {}
    : {
        eab_id: binding.keyId,
        directory: `${directory}directory`,
        created_time: formatTime(binding.createdAtMs),
        key_type: binding.keyType,
      };

export const accountSummary = (account: Account): JsonObject => ({
  status: account.status,
  contacts: account.contacts,
  created_time: formatTime(account.createdAtMs),
  revoked_time: account.revokedAtMs === undefined ? '' : formatTime(account.revokedAtMs),
  directory: account.directory,
  eab: bindingDocument(account.binding, account.directory),
});

const orderDocument = ({ id, order, status }: ManagedOrder): JsonObject => ({
  order_id: id,
  status,
  identifiers: order.identifiers.map(({ value }) => value),
  cert_serial_number: order.certificate?.serialKey.replaceAll('-', ':') ?? '',
  cert_expiry: order.certificate === undefined ? '' : formatTime(order.certificate.notAfterMs),
  order_expiry: formatTime(order.expiresAtMs),
});

/** @param orders undefined leaves them out */
export const managedAccountDocument = (
  id: string,
  account: Account,
  orders: readonly ManagedOrder[] | undefined,
): JsonObject => ({
  key_id: id,
  ...accountSummary(account),
  ...(orders !== undefined && { orders: orders.map(orderDocument) }),
});
