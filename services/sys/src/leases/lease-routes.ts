import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { field, secretsRoutes } from '@keelson/secrets-api';
import type { TokenContext } from '../tokens/token-context.ts';
import { revokeTokensBelow } from '../tokens/token-revocation-operations.ts';
import { type LeaseRecord, ttlSeconds } from './domain/lease.ts';
import { withSlash } from './domain/lease-prefix.ts';
import type { LeaseContext } from './lease-context.ts';
import {
  allLeases,
  irrevocableLeases,
  listLeaseNamesBelow,
  lookUpLease,
  renewLease,
} from './lease-operations.ts';
import {
  forgetLeasesBelow,
  revokeLease,
  revokeLeasesBelow,
} from './lease-revocation-operations.ts';

const TAG = 'leases';
const leaseId = field.string({ description: 'Id of the lease.', default: '' });
const sync = field.bool({ description: 'Answer after the secret was revoked.', default: false });
const prefix = field.string({
  description: 'Prefix of lease ids, ending with a slash.',
  required: true,
});

const timeText = (epochMs: number | undefined): string | null =>
  epochMs === undefined ? null : new Date(epochMs).toISOString();

const requireId = (id: string): string => {
  if (id === '') throw new KeelsonError('request.invalid', { text: 'lease_id must be specified' });
  return id;
};

const IRREVOCABLE = field.string({
  description: '"irrevocable": only leases that could not be revoked.',
  default: '',
  check: (type) =>
    type === '' || type === 'irrevocable' ? undefined : `unknown lease type "${type}"`,
});

const listed = (
  context: LeaseContext,
  namespaceId: string,
  type: string,
): AsyncIterable<LeaseRecord> =>
  type === '' ? allLeases(context, namespaceId) : irrevocableLeases(context, namespaceId);

const readRoutes = (context: LeaseContext): Route[] => [
  ...secretsRoutes({
    path: '/sys/leases',
    tag: TAG,
    fields: { type: IRREVOCABLE },
    operations: {
      read: {
        summary: 'Leases of the namespace that need attention.',
        handle: async ({ fields, namespace }) => {
          const found = [];
          for await (const { id, mountUuid, irrevocable } of listed(
            context,
            namespace.id,
            fields.type,
          ))
            found.push({ lease_id: id, mount_id: mountUuid, error: irrevocable ?? '' });
          return { data: { lease_count: found.length, leases: found } };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/sys/leases/count',
    tag: TAG,
    fields: { type: IRREVOCABLE },
    operations: {
      read: {
        summary: 'How many leases the namespace has, by mount.',
        handle: async ({ fields, namespace }) => {
          const counts = new Map<string, number>();
          let total = 0;
          for await (const { mountUuid } of listed(context, namespace.id, fields.type)) {
            counts.set(mountUuid, (counts.get(mountUuid) ?? 0) + 1);
            total += 1;
          }
          return { data: { lease_count: total, counts: Object.fromEntries(counts) } };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/sys/leases/lookup',
    tag: TAG,
    fields: { lease_id: leaseId },
    hasSettings: true,
    operations: {
      list: {
        summary: 'List the prefixes of lease ids.',
        handle: async ({ namespace }) => ({
          data: { keys: await listLeaseNamesBelow(context, namespace.id, '') },
        }),
      },
      update: {
        summary: 'Look up a lease.',
        handle: async ({ fields, namespace }) => {
          const id = requireId(fields.lease_id);
          const { lease, displayName, entityId } = await lookUpLease(context, namespace.id, id);
          return {
            data: {
              id: lease.id,
              display_name: displayName,
              entity_id: entityId,
              issue_time: timeText(lease.issuedAtMs),
              expire_time: timeText(lease.expiresAtMs),
              last_renewal: timeText(lease.lastRenewalMs),
              renewable: lease.renewable,
              ttl: ttlSeconds(lease, context.clock.nowMs()),
            },
          };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/sys/leases/lookup/*',
    tag: TAG,
    fields: { path: prefix },
    operations: {
      list: {
        summary: 'List lease ids below a prefix.',
        handle: async ({ fields, namespace }) => ({
          data: { keys: await listLeaseNamesBelow(context, namespace.id, fields.path) },
        }),
      },
    },
  }),
];

// Each operation has an older path, and takes the id in the path or in the body.
const RENEW_PATHS = ['/sys/leases/renew', '/sys/leases/renew/*', '/sys/renew', '/sys/renew/*'];
const REVOKE_PATHS = ['/sys/leases/revoke', '/sys/leases/revoke/*', '/sys/revoke', '/sys/revoke/*'];

const renewRoutes = (context: LeaseContext): Route[] =>
  RENEW_PATHS.flatMap((path) =>
    secretsRoutes({
      path,
      tag: TAG,
      fields: {
        lease_id: leaseId,
        path: leaseId,
        increment: field.durationSeconds({ description: 'Time wanted from now.', default: 0 }),
      },
      operations: {
        update: {
          summary: 'Renew a lease.',
          handle: async ({ fields, namespace }) => {
            const id = requireId(fields.lease_id || fields.path);
            const lease = await renewLease(context, namespace.id, id, fields.increment);
            return {
              lease: {
                id: lease.id,
                durationSeconds: ttlSeconds(lease, context.clock.nowMs()),
                renewable: lease.renewable,
              },
            };
          },
        },
      },
    }),
  );

/** Tokens have leases below `auth/`, which are not stored apart from them. */
const revokeTokenLeases = async (
  tokens: TokenContext,
  namespaceId: string,
  prefix: string,
): Promise<void> => {
  const below = withSlash(prefix);
  if (below.startsWith('auth/')) await revokeTokensBelow(tokens, namespaceId, below);
};

const revokeRoutes = (context: LeaseContext, tokens: TokenContext): Route[] => [
  ...REVOKE_PATHS.flatMap((path) =>
    secretsRoutes({
      path,
      tag: TAG,
      fields: { lease_id: leaseId, path: leaseId, sync },
      operations: {
        update: {
          summary: 'Revoke a lease.',
          handle: async ({ fields, namespace }) => {
            const id = requireId(fields.lease_id || fields.path);
            await revokeLease(context, namespace.id, id, fields.sync);
            return undefined;
          },
        },
      },
    }),
  ),
  ...['/sys/leases/revoke-prefix/*', '/sys/revoke-prefix/*'].flatMap((path) =>
    secretsRoutes({
      path,
      tag: TAG,
      fields: { path: prefix, sync },
      operations: {
        update: {
          summary: 'Revoke all leases with a common beginning, and the tokens of logins below it.',
          handle: async ({ fields, namespace }) => {
            await revokeLeasesBelow(context, namespace.id, fields.path, fields.sync);
            await revokeTokenLeases(tokens, namespace.id, fields.path);
            return undefined;
          },
        },
      },
    }),
  ),
  ...['/sys/leases/revoke-force/*', '/sys/revoke-force/*'].flatMap((path) =>
    secretsRoutes({
      path,
      tag: TAG,
      fields: { path: prefix },
      operations: {
        update: {
          summary: 'Forget all leases with a common prefix, revoked or not.',
          handle: async ({ fields, namespace }) => {
            await forgetLeasesBelow(context, namespace.id, fields.path);
            await revokeTokenLeases(tokens, namespace.id, fields.path);
            return undefined;
          },
        },
      },
    }),
  ),
];

/** `sys/leases`, and the older paths for renewing and revoking. */
export const leaseRoutes = (context: LeaseContext, tokens: TokenContext): Route[] => [
  ...readRoutes(context),
  ...renewRoutes(context),
  ...revokeRoutes(context, tokens),
];
