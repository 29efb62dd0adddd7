/** The routes of sys. */

import type { Route } from '@keelson/edge';
import { capabilityRoutes } from './access/capability-routes.ts';
import { counterRoutes } from './activity/activity-routes.ts';
import { backupRoutes } from './backups/backup-routes.ts';
import type { SysContext } from './compose-context.ts';
import { historyRoutes } from './history/history-routes.ts';
import { createTokenEntities } from './logins/login-operations.ts';
import { metricsRoutes } from './metrics/metrics-routes.ts';
import { engineCatalogRoutes } from './mounts/engine-catalog-routes.ts';
import { nodeRoutes } from './nodes/node-routes.ts';
import { policyRoutes } from './policies/policy-routes.ts';
import { drRoutes } from './replication/dr-routes.ts';
import { withFormerPaths } from './replication/previous-paths.ts';
import { replicationRoutes } from './replication/replication-routes.ts';
import { generateRootRoutes } from './seal/ceremony-routes.ts';
import { healthRoutes } from './seal/health-routes.ts';
import type { InitializationRequest, Initialized } from './seal/initialization-operations.ts';
import { rekeyRoutes } from './seal/rekey-routes.ts';
import { rotationRoutes } from './seal/rotation-routes.ts';
import { sealRoutes } from './seal/seal-routes.ts';
import { rootTokenAttempts, type TokenCeremonyContext } from './seal/token-ceremony-operations.ts';
import { issueServiceToken, rootTokenPlan } from './tokens/token-operations.ts';
import { tokenRoleRoutes } from './tokens/token-role-routes.ts';
import { tokenRoutes } from './tokens/token-routes.ts';
import { upgradeRoutes } from './upgrades/upgrade-routes.ts';

/** @param initialize as in `SysService.seal` */
export const sysRoutes = (
  context: SysContext,
  initialize: (request: InitializationRequest) => Promise<Initialized>,
): Route[] => {
  const { parts, gate, store, seal, tokens, views, replication, build, countDamage } = context;
  const { config, clock } = parts;
  const { policies } = views;
  const rekey = { store, seal, clock, followsPrimary: () => gate.closed !== 'none' };

  const generateRoot: TokenCeremonyContext = {
    store,
    seal,
    clock,
    attempts: rootTokenAttempts,
    texts: { name: 'root generation', short: 'generation' },
    issue: async (tx) => (await issueServiceToken(tx, rootTokenPlan(clock.nowMs()))).token,
  };
  return [
    ...sealRoutes({ seal, build, initialize }),
    ...healthRoutes({
      seal,
      build,
      clock,
      replicationModes: () => replication.modes(),
      isSuperseded: () => replication.isSuperseded(),
      countDamage,
      storeFaults: () => store.faults().map(({ text }) => text),
      startedAtMs: clock.nowMs(),
    }),
    ...backupRoutes(context.backups),
    ...nodeRoutes({
      nodes: context.nodes,
      versions: context.versions,
      clock,
      compatibleVersion: config.compatibleVersion,
      runner: parts.runner,
    }),
    ...engineCatalogRoutes({
      engineTypes: views.engineTypes,
      version: build.versions.own,
    }),
    ...rotationRoutes(context.rotation, context.seal),
    ...generateRootRoutes(generateRoot),
    ...rekeyRoutes({ ...rekey, kind: 'barrier' }),
    ...rekeyRoutes({ ...rekey, kind: 'recovery' }),
    ...tokenRoutes({
      ...tokens,
      loginLimits: context.loginLimits,
      entityOfAlias: createTokenEntities(context.logins),
    }),
    ...tokenRoleRoutes(tokens),
    ...policyRoutes({ store, policies }),
    ...capabilityRoutes(tokens, policies),
    ...context.administration.routes,
    ...withFormerPaths(replicationRoutes(replication)),
    ...drRoutes(replication),
    ...counterRoutes({
      store,
      clock,
      mounts: views.mounts,
      namespaces: views.namespaces,
      recorder: context.activity,
    }),
    ...historyRoutes(context.history, config.grafanaUrl),
    ...upgradeRoutes(replication.context.members),
    ...metricsRoutes({ replicationStatus: replication.status, countDamage }),
  ];
};
