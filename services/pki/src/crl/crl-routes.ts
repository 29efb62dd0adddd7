import type { Clock } from '@keelson/clock';
import type { Route } from '@keelson/edge';
import { type MountScope, requireMount } from '@keelson/engine';
import { secretsRoutes } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import type { Authorities } from '../issuers/issuer-records.ts';
import type { CrlBuilder } from './build/crl-builder.ts';
import { crlFetchRoutes } from './serve/crl-fetch-routes.ts';
import { crlSigningRoutes } from './sign/crl-signing-routes.ts';

export interface CrlRouteParts {
  readonly store: Store;
  readonly authorities: Authorities;
  readonly crlBuilder: CrlBuilder;
  readonly clock: Clock;
}

/** A GET with an effect: clients have come to expect it (reference §5.4). */
const rotation = (
  path: string,
  summary: string,
  rotate: (mount: MountScope) => Promise<readonly string[]>,
): Route[] =>
  secretsRoutes({
    path,
    tag: 'revocation',
    fields: {},
    operations: {
      read: {
        summary,
        answer: { data: { success: { type: 'boolean' } } },
        handle: async (context) => ({
          warnings: await rotate(requireMount(context)),
          data: { success: true },
        }),
      },
    },
  });

export const crlRoutes = ({ crlBuilder, ...parts }: CrlRouteParts): Route[] => [
  ...rotation('/crl/rotate', 'Make new lists now', (mount) => crlBuilder.rebuild(mount)),
  ...rotation('/crl/rotate-delta', 'Make new delta lists now', (mount) =>
    crlBuilder.rebuildDeltas(mount),
  ),
  ...crlFetchRoutes(parts),
  ...crlSigningRoutes(parts),
];
