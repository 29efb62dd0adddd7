/** Administration of ACME accounts: who has one, their orders, and closing an account. */

import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { field, type OperationContext, type Result, secretsRoutes } from '@keelson/secrets-api';
import { accountSummary, managedAccountDocument } from './account-management-document.ts';
import {
  findManagedAccount,
  listAccounts,
  listManagedOrders,
  type ManagementParts,
  requireSettableStatus,
  setAccountStatus,
} from './account-management-operations.ts';

const KEY_ID = field.string({ default: '', description: 'Id of the account.' });

type Fields = { readonly keyid: string };

export const accountManagementRoutes = (parts: ManagementParts): Route[] => {
  const answerAccount = async ({
    fields,
    ...context
  }: OperationContext<Fields>): Promise<Result | undefined> => {
    const mount = requireMount(context);
    const account = await findManagedAccount(parts, mount, fields.keyid);
    if (account === undefined) return undefined;
    const { orders, isComplete } = await listManagedOrders(parts, mount, fields.keyid);
    return {
      data: managedAccountDocument(fields.keyid, account, orders),
      warnings: isComplete ? [] : [`only the newest ${orders.length} orders are shown`],
    };
  };
  return [
    ...secretsRoutes({
      path: '/acme/mgmt/account/keyid',
      tag: 'ACME',
      fields: {},
      operations: {
        list: {
          summary: 'List ACME accounts',
          pagesItself: true,
          handle: async (context) => {
            const accounts = await listAccounts(parts, requireMount(context), context.fields);
            return {
              data: {
                keys: accounts.map(([id]) => id),
                key_info: Object.fromEntries(
                  accounts.map(([id, account]) => [id, accountSummary(account)]),
                ),
              },
            };
          },
        },
      },
    }),
    ...secretsRoutes({
      path: '/acme/mgmt/account/keyid/:keyid',
      tag: 'ACME',
      hasSettings: true,
      fields: {
        keyid: KEY_ID,
        status: field.string({
          description: 'revoked closes the account, valid opens it again.',
          required: true,
        }),
      },
      operations: {
        read: { summary: 'Read an ACME account and its orders', handle: answerAccount },
        update: {
          summary: 'Close an ACME account, or open it again',
          handle: async (context) => {
            const { keyid, status } = context.fields;
            const change = { id: keyid, status: requireSettableStatus(status) };
            const account = await setAccountStatus(parts, requireMount(context), change);
            return { data: managedAccountDocument(keyid, account, undefined) };
          },
        },
      },
    }),
  ];
};
