import type { JsonObject } from '@keelson/secrets-api';
import type { DirectoryUrls } from '../directories/domain/directory.ts';
import type { Account } from './domain/account.ts';

export const accountDocument = (urls: DirectoryUrls, id: string, account: Account): JsonObject => ({
  status: account.status,
  contact: account.contacts,
  termsOfServiceAgreed: account.termsAgreed,
  orders: urls.orders(id),
  ...(account.binding !== undefined && { externalAccountBinding: account.binding.presented }),
});
