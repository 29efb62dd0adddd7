/**
 * The administrative part of sys: namespaces, mounts, wrapping, leases, audit devices and custom messages.
 * `compose.ts` adds seal, tokens, policies and access.
 */
import type { Clock } from '@keelson/clock';
import type { Route } from '@keelson/edge';
import { type PeriodicWork, Wakeup } from '@keelson/locks';
import type { EngineDefinition } from '@keelson/proto/engine/v1/engine';
import type { RpcService } from '@keelson/rpc';
import type { Store } from '@keelson/storage';
import { type AuditDevices, followAuditDevices } from './audit/audit-records.ts';
import { auditRoutes } from './audit/audit-routes.ts';
import { type SysConfig, toSystemTtls } from './config.ts';
import { namespaceCubbyholePrefix, removeCubbyhole } from './cubbyhole/cubbyhole-records.ts';
import { cubbyholeRoutes } from './cubbyhole/cubbyhole-routes.ts';
import { namespaceMessagePrefix } from './custom-messages/custom-message-records.ts';
import { customMessageRoutes } from './custom-messages/custom-message-routes.ts';
import type { DamageRegister } from './damage/damage-register.ts';
import { internalUiRoutes } from './internal-ui/internal-ui-routes.ts';
import { createDepartedMountCheck } from './leases/departed-mounts.ts';
import type { LeaseContext } from './leases/lease-context.ts';
import {
  endLeasesOfToken,
  listLeaseNamespaces,
  namespaceLeasePrefixes,
  orderEnding,
} from './leases/lease-records.ts';
import { endLeasesOfNamespace, revokeDueLeases } from './leases/lease-revocation-operations.ts';
import { leaseRoutes } from './leases/lease-routes.ts';
import type { MountIndex } from './mounts/domain/mount-index.ts';
import { findEngineMount } from './mounts/engine-mount.ts';
import { type EngineType, followEngineTypes } from './mounts/engine-type-records.ts';
import type { MountContext } from './mounts/mount-operations.ts';
import {
  findMountBelow,
  followMounts,
  listLocalMountNamespaces,
  namespaceMountPrefixes,
} from './mounts/mount-records.ts';
import { mountRoutes } from './mounts/mount-routes.ts';
import { createDepartedNamespaces } from './namespaces/departed-namespaces.ts';
import type { NamespaceTable } from './namespaces/domain/namespace-table.ts';
import {
  type NamespaceContext,
  resumeNamespaceRemovals,
} from './namespaces/namespace-operations.ts';
import { followNamespaces } from './namespaces/namespace-records.ts';
import { namespaceRoutes } from './namespaces/namespace-routes.ts';
import type { PolicyBook } from './policies/policy-book.ts';
import { recordFormerMount, recordFormerNamespace } from './replication/filters/filter-catalog.ts';
import type { TokenContext, TokenRemovalHook } from './tokens/token-context.ts';
import { listTokenNamespaces, refOf } from './tokens/token-records.ts';
import { toolRoutes } from './tools/tool-routes.ts';
import { wrappingRoutes } from './wrapping/wrapping-routes.ts';

/** Longest wait before the worker handles a lease that ended. */
const LEASE_EXPIRY_EVERY_MS = 1000;
/** Interval of the search for mounts and namespaces that replication removed. */
const DEPARTURES_EVERY_MS = 1000;
/** Interval of the search for namespaces whose removal waits for an engine or was interrupted. */
const NAMESPACE_REMOVAL_EVERY_MS = 10_000;

export interface AdministrationParts {
  readonly config: SysConfig;
  readonly store: Store;
  readonly clock: Clock;
  /** Its `onRemoved` includes `TOKEN_REMOVAL_HOOKS`. */
  readonly tokens: TokenContext;
  readonly policies: () => Promise<PolicyBook>;
  /** By service name. */
  readonly engines: ReadonlyMap<string, RpcService<typeof EngineDefinition>>;
  readonly damage: DamageRegister;
  /** Prefixes of the records that tokens and policies keep for a namespace. */
  readonly namespacePrefixes: (namespaceId: string) => readonly string[];
  /** Called in the transaction that moves a mount. */
  readonly onMountMoved: MountContext['onMoved'];
  readonly afterMountMove: MountContext['afterMove'];
  readonly keptBackPaths: MountContext['keptBackPaths'];
}

export interface Administration {
  readonly routes: readonly Route[];
  /** For `Access.Resolve`: the namespaces at the time of the call, in memory. */
  readonly namespaces: () => Promise<NamespaceTable>;
  readonly mounts: () => Promise<MountIndex>;
  readonly engineTypes: () => Promise<ReadonlyMap<string, EngineType>>;
  readonly auditDevices: () => Promise<AuditDevices>;
  readonly leases: LeaseContext;
  /** By name; to be run while unsealed. */
  readonly periodicWork: Readonly<Record<string, PeriodicWork>>;
}

/** Removes what belongs to a token, in the transaction that removes the token. */
export const TOKEN_REMOVAL_HOOKS: readonly TokenRemovalHook[] = [
  (tx, token) => removeCubbyhole(tx, refOf(token)),
  (tx, token) => endLeasesOfToken(tx, refOf(token)),
];

export const composeAdministration = (parts: AdministrationParts): Administration => {
  const { config, store, clock, tokens, policies, engines, damage } = parts;
  const systemTtls = toSystemTtls(config);
  const namespaces = followNamespaces(store, damage.of('namespaces'));
  const mounts = followMounts(store, damage.of('mounts'));
  const engineTypes = followEngineTypes(store, damage.of('engine_types'));
  const auditDevices = followAuditDevices(store, damage.of('audit_devices'));

  const leaseEnds = new Wakeup();
  const leases: LeaseContext = {
    store,
    clock,
    findMount: async (uuid) =>
      findEngineMount(await mounts(), await namespaces(), systemTtls, uuid),
    engineTypes,
    engines,
    onEnd: () => leaseEnds.notify(),
  };
  const namespaceContext: NamespaceContext = {
    store,
    namespaces,
    findMountBelow,
    endLeases: (id) => endLeasesOfNamespace(leases, id),
    onRemoval: recordFormerNamespace,
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
  };
  const removeDepartedNamespaces = createDepartedNamespaces(namespaceContext);
  const endLeasesOfDeparted = createDepartedMountCheck({
    store,
    mounts,
    onEnd: () => leaseEnds.notify(),
  });
  const mountContext: MountContext = {
    store,
    mounts,
    systemTtls,
    onRemoval: async (tx, { namespaceId, path }) =>
      orderEnding(tx, { kind: 'prefix', namespaceId, prefix: path }),
    onDisabled: recordFormerMount,
    onMoved: parts.onMountMoved,
    afterMove: parts.afterMountMove,
    keptBackPaths: parts.keptBackPaths,
  };

  return {
    routes: [
      ...namespaceRoutes(namespaceContext),
      ...mountRoutes(mountContext),
      ...wrappingRoutes(tokens),
      ...leaseRoutes(leases),
      ...auditRoutes({ store, devices: auditDevices }),
      ...cubbyholeRoutes({ store }),
      ...toolRoutes(),
      ...customMessageRoutes({ store, clock, namespaces }),
      ...internalUiRoutes({ mounts, namespaces, policies }),
    ],
    namespaces,
    mounts,
    engineTypes,
    auditDevices,
    leases,
    periodicWork: {
      'lease-expiry': {
        everyMs: LEASE_EXPIRY_EVERY_MS,
        wakeup: leaseEnds,
        round: (options) => revokeDueLeases(leases, options),
      },
      departures: {
        everyMs: DEPARTURES_EVERY_MS,
        round: async (options) => {
          await endLeasesOfDeparted(options);
          await removeDepartedNamespaces();
          return false;
        },
      },
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
