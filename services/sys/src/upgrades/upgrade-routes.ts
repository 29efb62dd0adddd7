/** `sys/upgrade`: ends an upgrade, when no process of the version before runs any more. */
import type { Route } from '@keelson/edge';
import { field, secretsRoutes } from '@keelson/secrets-api';
import type { ServiceMembers } from '../replication/service-members.ts';

const PLACE = { path: '/sys/upgrade', tag: 'health' } as const;

export const upgradeRoutes = (members: ServiceMembers): Route[] => [
  ...secretsRoutes({
    ...PLACE,
    fields: {},
    operations: {
      read: {
        summary: 'Kinds of records that are still written in the version before',
        handle: async () => ({
          data: { pending: Object.fromEntries(await members.pendingUpgrades()) },
        }),
      },
    },
  }),
  ...secretsRoutes({
    ...PLACE,
    fields: {
      after: field.string({
        description:
          'Where to continue, as the answer before said. Empty at first, which is the end of going back to the version before.',
        default: '',
      }),
    },
    operations: {
      update: {
        summary:
          'Write new versions of records from now on, and rewrite the older ones of some records',
        handle: async ({ fields }) => ({
          data: { ...(await members.upgradeRecords(fields.after)) },
        }),
      },
    },
  }),
];
