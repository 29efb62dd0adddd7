/**
 * The administrative part of sys, put together: namespaces, mounts, wrapping, leases, audit devices,
 * custom messages. `compose.ts` adds seal, tokens, policies and access.
 */
import type { Clock } from '@keelson/clock';
import type { Route } from '@keelson/edge';
import { type PeriodicWork, Wakeup } from '@keelson/locks';
import type { EngineDefinition } from '@keelson/proto/engine/v1/engine';
import type { RpcService } from '@keelson/rpc';
import type { Store } from '@keelson/storage';
import { type AuditOperations, createAuditOperations } from './audit/audit-operations.ts';
import { auditRoutes } from './audit/audit-routes.ts';
import { namespaceCubbyholePrefix, removeCubbyhole } from './cubbyhole/cubbyhole-records.ts';
import { cubbyholeRoutes } from './cubbyhole/cubbyhole-routes.ts';
import { createCustomMessageOperations } from './custom-messages/custom-message-operations.ts';
import { namespaceMessagePrefix } from './custom-messages/custom-message-records.ts';
import { customMessageRoutes } from './custom-messages/custom-message-routes.ts';
import { internalUiRoutes } from './internal-ui/internal-ui-routes.ts';
import { createDepartedMounts } from './leases/departed-mounts.ts';
import { createLeaseOperations, type LeaseOperations } from './leases/lease-operations.ts';
import {
  endLeasesOfToken,
  listLeaseNamespaces,
  namespaceLeasePrefixes,
  orderEnding,
} from './leases/lease-records.ts';
import { leaseRoutes } from './leases/lease-routes.ts';
import type { LeaseTtls } from './mounts/domain/lease-ttl.ts';
import type { MountIndex } from './mounts/domain/mount-index.ts';
import { findEngineMount } from './mounts/engine-mount.ts';
import { type EngineType, followEngineTypes } from './mounts/engine-type-records.ts';
import { createMountOperations, type MountDependencies } from './mounts/mount-operations.ts';
import {
  followMounts,
  listLocalMountNamespaces,
  namespaceMountPrefixes,
} from './mounts/mount-records.ts';
import { mountRoutes } from './mounts/mount-routes.ts';
import type { NamespaceTable } from './namespaces/domain/namespace-table.ts';
import { createNamespaceOperations } from './namespaces/namespace-operations.ts';
import { followNamespaces } from './namespaces/namespace-records.ts';
import { namespaceRoutes } from './namespaces/namespace-routes.ts';
import type { PolicyBook } from './policies/policy-book.ts';
import { noteFormerMount, noteFormerNamespace } from './replication/filters/filter-catalog.ts';
import type { TokenContext, TokenRemovalHook } from './tokens/token-context.ts';
import { listTokenNamespaces, refOf } from './tokens/token-records.ts';
import { toolRoutes } from './tools/tool-routes.ts';
import {
  createWrappingOperations,
  type WrappingOperations,
} from './wrapping/wrapping-operations.ts';
import { wrappingRoutes } from './wrapping/wrapping-routes.ts';

/** A lease that ended is taken up after this time at the latest. */
const LEASE_EXPIRY_EVERY_MS = 1000;
/** Looks for mounts and namespaces that replication took away. */
const DEPARTURES_EVERY_MS = 1000;
/** Looks for namespaces whose removal waits for an engine, or was interrupted. */
const NAMESPACE_REMOVAL_EVERY_MS = 10_000;

export interface AdministrationParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Its `onRemoved` includes `TOKEN_REMOVAL_HOOKS`. */
  readonly tokens: TokenContext;
  readonly policies: () => Promise<PolicyBook>;
  /** By service name. */
  readonly engines: ReadonlyMap<string, RpcService<typeof EngineDefinition>>;
  readonly systemTtls: LeaseTtls;
  /** Prefixes of what tokens and policies keep for a namespace. */
  readonly namespacePrefixes: (namespaceId: string) => readonly string[];
  /** Called in the transaction that moves a mount. */
  readonly onMountMoved: MountDependencies['onMoved'];
  readonly afterMountMove: MountDependencies['afterMove'];
  readonly keptBackPaths: () => Promise<readonly string[]>;
}

export interface Administration {
  readonly routes: readonly Route[];
  /** For `Access.Resolve`: as of each call, in memory. */
  readonly namespaces: () => Promise<NamespaceTable>;
  readonly mounts: () => Promise<MountIndex>;
  readonly engineTypes: () => Promise<ReadonlyMap<string, EngineType>>;
  readonly wrapping: WrappingOperations;
  readonly audit: AuditOperations;
  readonly leases: LeaseOperations;
  /** By name; to be done while unsealed. */
  readonly periodicWork: Readonly<Record<string, PeriodicWork>>;
}

/** What ends with a token, in the transaction that ends it. */
export const TOKEN_REMOVAL_HOOKS: readonly TokenRemovalHook[] = [
  (tx, token) => removeCubbyhole(tx, refOf(token)),
  (tx, token) => endLeasesOfToken(tx, refOf(token)),
];

export const composeAdministration = (parts: AdministrationParts): Administration => {
  const { store, clock, tokens, policies, engines, systemTtls } = parts;
  const namespaces = followNamespaces(store);
  const mounts = followMounts(store);
  const engineTypes = followEngineTypes(store);

  const leaseEnds = new Wakeup();
  const leases = createLeaseOperations({
    store,
    clock,
    findMount: async (uuid) =>
      findEngineMount(await mounts(), await namespaces(), systemTtls, uuid),
    engineTypes,
    engines,
    onEnd: () => leaseEnds.ring(),
  });
  const namespaceOperations = createNamespaceOperations({
    store,
    namespaces,
    endLeases: (id) => leases.endNamespace(id),
    onRemoval: noteFormerNamespace,
    contentPrefixes: (id) => [
      ...namespaceMountPrefixes(id),
      ...namespaceLeasePrefixes(id),
      namespaceCubbyholePrefix(id),
      namespaceMessagePrefix(id),
      ...parts.namespacePrefixes(id),
    ],
    withOwnContent: async () => [
      ...new Set([
        ...(await listTokenNamespaces(store)),
        ...(await listLeaseNamespaces(store)),
        ...(await listLocalMountNamespaces(store)),
      ]),
    ],
  });
  const endLeasesOfDeparted = createDepartedMounts({
    store,
    mounts,
    onEnd: () => leaseEnds.ring(),
  });
  const mountOperations = createMountOperations({
    store,
    mounts,
    systemTtls,
    onRemoval: async (tx, { namespaceId, path }) =>
      orderEnding(tx, { kind: 'prefix', namespaceId, prefix: path }),
    onDisabled: noteFormerMount,
    onMoved: parts.onMountMoved,
    afterMove: parts.afterMountMove,
  });
  const audit = createAuditOperations(store);
  const wrapping = createWrappingOperations(tokens);
  const messages = createCustomMessageOperations({ store, clock, namespaces });

  return {
    routes: [
      ...namespaceRoutes(namespaceOperations),
      ...mountRoutes({ mounts: mountOperations, systemTtls, keptBackPaths: parts.keptBackPaths }),
      ...wrappingRoutes(wrapping),
      ...leaseRoutes(leases, clock),
      ...auditRoutes(audit),
      ...cubbyholeRoutes(store),
      ...toolRoutes(),
      ...customMessageRoutes(messages),
      ...internalUiRoutes({ mounts, namespaces, policies }),
    ],
    namespaces,
    mounts,
    engineTypes,
    wrapping,
    audit,
    leases,
    periodicWork: {
      'lease-expiry': {
        everyMs: LEASE_EXPIRY_EVERY_MS,
        wakeup: leaseEnds,
        round: (options) => leases.revokeDue(options),
      },
      departures: {
        everyMs: DEPARTURES_EVERY_MS,
        round: async (options) => {
          await endLeasesOfDeparted(options);
          await namespaceOperations.removeDeparted();
          return false;
        },
      },
      'namespace-removal': {
        everyMs: NAMESPACE_REMOVAL_EVERY_MS,
        round: async () => {
          await namespaceOperations.resumeRemovals();
          return false;
        },
      },
    },
  };
};
