/** Banned keys over HTTP: what is banned, and lifting a ban. */

import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import { field, secretsRoutes } from '@keelson/secrets-api';
import { listBans } from '../keys/compromised-keys.ts';
import { MAX_TEXT_LENGTH } from '../mounts/text-fields.ts';
import { formatTime } from '../validity/domain/lifetime.ts';
import type { AnnouncingParts } from './announcing-operations.ts';
import { liftBan } from './key-bans.ts';

const LATER = {
  warnings: [
    'the ban is lifted as soon as the primary cluster can be reached; until then it holds',
  ],
};

export const keyBanRoutes = (parts: AnnouncingParts): Route[] => [
  ...secretsRoutes({
    path: '/keys/compromised',
    tag: 'keys',
    fields: {},
    operations: {
      list: {
        summary: 'List keys that are banned because a certificate was revoked as compromised',
        handle: async (context) => {
          const bans = await listBans(parts.store, requireMount(context));
          return {
            data: {
              keys: bans.map(([fingerprint]) => fingerprint),
              key_info: Object.fromEntries(
                bans.map(([fingerprint, { bannedAtMs, serialKey }]) => [
                  fingerprint,
                  {
                    banned_time: bannedAtMs / 1000,
                    banned_time_rfc3339: formatTime(bannedAtMs),
                    serial_number: serialKey.replaceAll('-', ':'),
                  },
                ]),
              ),
            },
          };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/keys/compromised/:fingerprint',
    tag: 'keys',
    fields: {
      fingerprint: field.string({
        default: '',
        description: 'Fingerprint of the key, as listed.',
        maxLength: MAX_TEXT_LENGTH,
      }),
    },
    operations: {
      delete: {
        summary: 'Lift the ban of a key; its certificate stays revoked',
        handle: async (context) => {
          const mount = requireMount(context);
          return (await liftBan(parts, mount, context.fields.fingerprint)) ? undefined : LATER;
        },
      },
    },
  }),
];
