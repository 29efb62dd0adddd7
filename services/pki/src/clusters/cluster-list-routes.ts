/** Lists of revocations in all clusters (reference §5.2). */

import type { Route } from '@keelson/edge';
import { type MountScope, requireMount } from '@keelson/engine';
import { secretsRoutes } from '@keelson/secrets-api';
import type { ListOptions, Store } from '@keelson/storage';
import { parseSerialText, toSerialKey } from '@keelson/x509';
import { listSerials } from '../certificates/serial-pages.ts';
import { loadCrlConfig } from '../crl-config/crl-config-records.ts';
import {
  clusterRevocationRecords,
  clusterRevocationsOf,
  confirmationRecords,
  requestRecords,
} from './cluster-records.ts';

/** Serial numbers of announced revocations; below each there is a record per cluster. */
const listByCluster =
  (store: Store, mount: MountScope) =>
  async ({ after, ...options }: ListOptions): Promise<readonly string[]> => {
    const names = await clusterRevocationRecords(mount).keys(store, [], {
      ...options,
      ...(after !== undefined && { after: `${after}/` }),
    });
    return names.map((name) => name.slice(0, -1));
  };

const infoOf = async <T>(
  serials: readonly string[],
  describe: (serialKey: string) => Promise<T>,
): Promise<Readonly<Record<string, T>>> => {
  const info: Record<string, T> = {};
  for (const serial of serials) info[serial] = await describe(toSerialKey(parseSerialText(serial)));
  return info;
};

export const clusterListRoutes = (store: Store): Route[] => [
  ...secretsRoutes({
    path: '/certs/unified-revoked',
    tag: 'revocation',
    fields: {},
    operations: {
      list: {
        summary: 'List certificates revoked in any cluster',
        pagesItself: true,
        handle: async (context) => {
          const mount = requireMount(context);
          const { unifiedCrl } = await loadCrlConfig(store, mount);
          if (!unifiedCrl) return { data: { keys: [] } };
          const keys = await listSerials(listByCluster(store, mount), context.fields);
          const key_info = await infoOf(keys, async (serialKey) => ({
            revoking_clusters: await store.list(clusterRevocationsOf(mount, serialKey)),
          }));
          return { data: { keys, key_info } };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/certs/revocation-queue',
    tag: 'revocation',
    fields: {},
    operations: {
      list: {
        summary: 'List revocations requested from other clusters',
        pagesItself: true,
        handle: async (context) => {
          const mount = requireMount(context);
          const records = requestRecords(mount);
          const keys = await listSerials(
            (options) => records.keys(store, [], options),
            context.fields,
          );
          const key_info = await infoOf(keys, async (serialKey) => {
            const request = await records.find(store, serialKey);
            const confirmation = await confirmationRecords(mount).find(store, serialKey);
            return {
              requesting_cluster: request?.requestingCluster ?? '',
              confirmed: confirmation !== undefined,
              ...(confirmation && { confirmation_cluster: confirmation.confirmingCluster }),
            };
          });
          return { data: { keys, key_info } };
        },
      },
    },
  }),
];
