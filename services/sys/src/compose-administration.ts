/**
 * The administrative part of sys: namespaces, mounts, entities, wrapping, leases, audit devices and custom messages.
 * `sys-routes.ts` adds seal, tokens, policies and replication.
 */
import type { Route } from '@keelson/edge';
import { type PeriodicWork, Wakeup } from '@keelson/locks';
import { auditRoutes } from './audit/audit-routes.ts';
import type { OtherServices, SysCore } from './compose-core.ts';
import { cubbyholeRoutes } from './cubbyhole/cubbyhole-routes.ts';
import { customMessageRoutes } from './custom-messages/custom-message-routes.ts';
import { aliasRoutes } from './identity/alias-routes.ts';
import { entityRoutes } from './identity/entity-routes.ts';
import { groupAliasRoutes } from './identity/group-alias-routes.ts';
import { groupRoutes } from './identity/group-routes.ts';
import type { IdentityContext } from './identity/identity-context.ts';
import { createRemovedAliasCheck } from './identity/removed-aliases.ts';
import { internalUiRoutes } from './internal-ui/internal-ui-routes.ts';
import type { LeaseContext } from './leases/lease-context.ts';
import { orderEnding } from './leases/lease-records.ts';
import { endLeasesOfNamespace, revokeDueLeases } from './leases/lease-revocation-operations.ts';
import { countLeasesOf } from './leases/lease-room.ts';
import { leaseRoutes } from './leases/lease-routes.ts';
import { createRemovedMountCheck } from './leases/removed-mounts.ts';
import { lockedUserRoutes } from './locked-users/locked-user-routes.ts';
import { createRemovedLoginCheck } from './logins/removed-logins.ts';
import { loginValidationRoutes } from './logins/validation-routes.ts';
import { loginEnforcementRoutes } from './mfa/enforcement-routes.ts';
import { ENDED_ENTITIES } from './mfa/merged-factors.ts';
import { mfaMethodRoutes } from './mfa/method-routes.ts';
import { passkeyRoutes } from './mfa/passkey-routes.ts';

import { mountPathOf } from './mounts/domain/mount.ts';
import type { MountContext } from './mounts/mount-operations.ts';
import { findMountBelow } from './mounts/mount-records.ts';
import { mountRoutes } from './mounts/mount-routes.ts';
import {
  type NamespaceContext,
  resumeNamespaceRemovals,
} from './namespaces/namespace-operations.ts';
import { namespaceRoutes } from './namespaces/namespace-routes.ts';
import { createRemovedNamespaces } from './namespaces/removed-namespaces.ts';
import { createOidcProvider } from './oidc/oidc-provider.ts';
import { ownTokenRoutes } from './own-tokens/own-token-routes.ts';
import { leaseQuotaRoutes } from './quotas/lease-quota-routes.ts';
import { deleteQuotasOfMount, moveQuotasOfMount } from './quotas/quota-operations.ts';
import { quotaRoutes } from './quotas/quota-routes.ts';
import { recordFormerMount, recordFormerNamespace } from './replication/filters/filter-catalog.ts';
import {
  type FilterContext,
  findReceivedFilter,
  moveInFilters,
  refreshFilters,
} from './replication/filters/filter-operations.ts';
import { toolRoutes } from './tools/tool-routes.ts';
import { wrappingRoutes } from './wrapping/wrapping-routes.ts';

/** Longest wait before the worker handles a lease that ended. */
const LEASE_EXPIRY_EVERY_MS = 1000;
/** Interval of the search for mounts and namespaces that replication removed. */
const DEPARTURES_EVERY_MS = 1000;
/** Interval of the search for namespaces whose removal waits for an engine or was interrupted. */
const NAMESPACE_REMOVAL_EVERY_MS = 10_000;

export interface Administration {
  readonly routes: readonly Route[];
  /** By name; to be run while unsealed. */
  readonly periodicWork: Readonly<Record<string, PeriodicWork>>;
}

export const composeAdministration = (
  { parts, store, gate, systemTtls, tokens, views, findMount, logins, room }: SysCore,
  { engines, authMethods }: OtherServices,
  filters: FilterContext,
): Administration => {
  const { clock } = parts;
  const { policies, namespaces, mounts, engineTypes, auditDevices } = views;
  const leaseEnds = new Wakeup();
  const leases: LeaseContext = {
    store,
    clock,
    findMount,
    engineTypes,
    engines,
    room,
    onEnd: () => leaseEnds.notify(),
  };
  const namespaceContext: NamespaceContext = {
    store,
    namespaces,
    findMountBelow,
    endLeases: (id) => endLeasesOfNamespace(leases, id),
    onRemoval: recordFormerNamespace,
  };
  const removeNamespaces = createRemovedNamespaces(namespaceContext);
  const endLeasesOfRemovedMounts = createRemovedMountCheck({
    store,
    mounts,
    onEnd: () => leaseEnds.notify(),
  });
  const removeLoginsOfRemovedMounts = createRemovedLoginCheck(tokens, mounts);
  const removeAliasesOfRemovedMounts = createRemovedAliasCheck({
    store,
    mounts,
    writesShared: () => gate.closed === 'none',
  });
  const identity: IdentityContext = { store, clock, mounts, ...ENDED_ENTITIES };
  const { publicUrl } = parts.config;
  const oidc = createOidcProvider({ ...tokens, namespaces, publicUrl });
  const mountContext: MountContext = {
    store,
    mounts,
    systemTtls,
    onRemoval: async (tx, mount) =>
      orderEnding(tx, {
        kind: 'prefix',
        namespaceId: mount.namespaceId,
        prefix: mountPathOf(mount),
      }),
    onDisabled: async (tx, mount) => {
      await recordFormerMount(tx, mount);
      await deleteQuotasOfMount(tx, mount);
    },
    onMoved: async (tx, before, after) => {
      await moveInFilters(filters, tx, before, after);
      await moveQuotasOfMount(tx, after);
    },
    afterMove: () => refreshFilters(filters),
    keptBackPaths: async () => (await findReceivedFilter(filters))?.dynamic_filtered_mounts ?? [],
  };

  return {
    routes: [
      ...namespaceRoutes(namespaceContext),
      ...mountRoutes(mountContext),
      ...wrappingRoutes(tokens),
      ...leaseRoutes(leases, tokens),
      ...auditRoutes({ store, devices: auditDevices }),
      ...cubbyholeRoutes({ store }),
      ...toolRoutes(),
      ...lockedUserRoutes({ mounts, namespaces, findMount, methods: authMethods }),
      ...customMessageRoutes({ store, clock, namespaces }),
      ...internalUiRoutes({ mounts, namespaces, policies, identityOf: tokens.identityOf }),
      ...ownTokenRoutes(tokens, mounts),
      ...entityRoutes(identity),
      ...aliasRoutes(identity),
      ...groupRoutes(identity),
      ...groupAliasRoutes(identity),
      ...oidc.routes,
      ...mfaMethodRoutes(logins.mfa),
      ...passkeyRoutes(logins.mfa),
      ...loginEnforcementRoutes(logins.mfa),
      ...loginValidationRoutes(logins, authMethods),
      ...quotaRoutes({ store, mounts, namespaces }),
      ...leaseQuotaRoutes({
        store,
        mounts,
        namespaces,
        countLeases: (quota) => countLeasesOf(room, quota),
      }),
    ],
    periodicWork: {
      'lease-expiry': {
        everyMs: LEASE_EXPIRY_EVERY_MS,
        wakeup: leaseEnds,
        round: (options) => revokeDueLeases(leases, options),
      },
      departures: {
        everyMs: DEPARTURES_EVERY_MS,
        round: async (options) => {
          await endLeasesOfRemovedMounts(options);
          await removeLoginsOfRemovedMounts(options);
          await removeAliasesOfRemovedMounts(options);
          await removeNamespaces();
          return false;
        },
      },
      ...oidc.periodicWork,
      'namespace-removal': {
        everyMs: NAMESPACE_REMOVAL_EVERY_MS,
        round: async () => {
          await resumeNamespaceRemovals(namespaceContext);
          return false;
        },
      },
    },
  };
};
