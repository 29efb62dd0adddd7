/** `sys/quotas/lease-count`: numbers of leases, by path. */
import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { field, secretsRoutes } from '@keelson/secrets-api';
import type { MountRecord } from '../mounts/domain/mount.ts';
import type { LeaseQuota } from './domain/lease-quota.ts';
import { leaseQuotaDocument } from './quota-document.ts';
import {
  deleteQuota,
  findQuota,
  listQuotaNames,
  putQuota,
  type QuotaContext,
} from './quota-operations.ts';
import { leaseQuotaRecords } from './quota-records.ts';
import { quotaName, quotaPath, quotaRole, TAG } from './quota-routes.ts';

const BASE = '/sys/quotas/lease-count';
/** Each lease is counted when another one is to be made. */
const MAX_LEASES = 100_000;

export interface LeaseQuotaContext extends QuotaContext {
  /** Leases that a quota counts now. */
  readonly countLeases: (quota: LeaseQuota) => Promise<number>;
}

const FIELDS = {
  name: quotaName,
  path: quotaPath,
  max_leases: field.integer({
    description: 'Number of leases that there may be; service tokens are leases as well.',
    required: 'max_leases is missing: the number of leases',
    check: (max) =>
      max >= 1 && max <= MAX_LEASES ? undefined : `max_leases is 1 to ${MAX_LEASES}`,
  }),
  inheritable: field.bool({
    description:
      'Whether the quota of a namespace applies to the namespaces below it that have none, all together.',
    default: false,
  }),
  role: quotaRole,
} as const;

/** Tokens are counted by the mount of their login, whatever its path was. */
const requireCountable = ({ table, path }: MountRecord, below: string): void => {
  if (table === 'auth' && (path === 'token/' || below !== ''))
    throw new KeelsonError('request.invalid', {
      text: 'the path of a quota of leases is that of a namespace, of a whole auth method other than auth/token, or in another mount',
    });
};

export const leaseQuotaRoutes = (context: LeaseQuotaContext): Route[] => [
  ...secretsRoutes({
    path: BASE,
    tag: TAG,
    fields: {},
    operations: {
      list: {
        summary: 'List the lease count quotas of all namespaces',
        handle: async () => ({
          data: { keys: await listQuotaNames(context, leaseQuotaRecords) },
        }),
      },
    },
  }),
  ...secretsRoutes({
    path: `${BASE}/:name`,
    tag: TAG,
    fields: FIELDS,
    hasSettings: true,
    operations: {
      read: {
        summary: 'Read a lease count quota, with the leases that it counts now',
        handle: async ({ fields }) => {
          const quota = await findQuota(context, leaseQuotaRecords, fields.name);
          return quota && { data: leaseQuotaDocument(quota, await context.countLeases(quota)) };
        },
      },
      update: {
        summary:
          'Create or replace a lease count quota; parameters that are not given get their defaults',
        handle: async ({ fields }) => {
          await putQuota(
            context,
            leaseQuotaRecords,
            {
              name: fields.name,
              path: fields.path,
              maxLeases: fields.max_leases,
              isInheritable: fields.inheritable,
              role: fields.role,
            },
            requireCountable,
          );
          return undefined;
        },
      },
      delete: {
        summary: 'Delete a lease count quota',
        handle: async ({ fields }) => {
          await deleteQuota(context, leaseQuotaRecords, fields.name);
          return undefined;
        },
      },
    },
  }),
];
