/**
 * Lists over all clusters (reference §5.2). This cluster knows of its own revocations; no request
 * between clusters waits in it.
 */
import type { Route } from '@keelson/edge';
import { secretsRoutes } from '@keelson/secrets-api';
import type { ListOptions, Store } from '@keelson/storage';
import { revocationRecords } from '../certificates/certificate-records.ts';
import { listSerials, PAGE_FIELDS } from '../certificates/serial-pages.ts';
import type { Authorities } from '../issuers/issuer-records.ts';
import { requireMount } from '../mounts/request-mount.ts';

export interface UnifiedListParts {
  readonly store: Store;
  readonly authorities: Authorities;
}

export const unifiedListRoutes = ({ store, authorities }: UnifiedListParts): Route[] => [
  ...secretsRoutes({
    path: '/certs/unified-revoked',
    tag: 'revocation',
    fields: PAGE_FIELDS,
    operations: {
      list: {
        summary: 'List certificates revoked in any cluster',
        handle: async (context) => {
          const mount = requireMount(context);
          const { unifiedCrl } = (await authorities.of(mount)).settings.crl;
          if (!unifiedCrl) return { data: { keys: [] } };
          const records = revocationRecords(mount);
          const list = (options: ListOptions) => records.keys(store, options);
          return { data: { keys: await listSerials(list, context.fields) } };
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
        summary: 'List revocations that other clusters were asked for',
        handle: () => ({ data: { keys: [] } }),
      },
    },
  }),
];
