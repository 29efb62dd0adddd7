/** The second phase of the composition: everything that calls the other services. */
import { hostname } from 'node:os';
import { VERSION } from '@keelson/runtime';
import type { BackupContext } from './backups/backup-operations.ts';
import { openScheduledBackups } from './backups/backup-schedule.ts';
import { composeAdministration } from './compose-administration.ts';
import type { OtherServices, SysCore } from './compose-core.ts';
import { createLoginRenewals } from './logins/login-operations.ts';
import { createNodes } from './nodes/node-operations.ts';
import { createVersionHistory } from './nodes/version-history.ts';
import { composeReplication, type Replication } from './replication/compose-replication.ts';
import { createSnapshots, type Snapshots } from './snapshots/snapshot-operations.ts';

const composeSnapshots = (
  { parts: { store, barrier, clock, installation }, seal, state }: SysCore,
  { own }: Replication,
  { replicas }: OtherServices,
): Snapshots =>
  createSnapshots({
    store,
    barrier,
    clock,
    seal,
    version: VERSION,
    own,
    others: replicas,
    secondaryKind: async () => {
      const { performance, dr } = await state.roles();
      if (performance?.role === 'secondary') return 'performance';
      return dr?.role === 'secondary' ? 'dr' : undefined;
    },
    installation,
  });

const composeBackups = (
  { parts: { config, clock, registry }, store, logger }: SysCore,
  snapshots: Snapshots,
): BackupContext => ({
  store,
  logger,
  snapshots,
  clock,
  scheduled: openScheduledBackups(config, { logger, registry, clock }),
});

export const composeContext = (core: SysCore, others: OtherServices) => {
  const { parts, damage, views } = core;
  const { store, clock } = parts;
  const { memberships, state, transport, tokens, catalog, localClusterId, logger } = core;
  const replication = composeReplication({
    ...core.activation,
    memberships,
    state,
    transport,
    tokens,
    policies: views.policies,
    catalog,
    localClusterId,
    services: others.replicas,
    logger,
  });
  const administration = composeAdministration(core, others, replication.context);
  /** Reads each kind of record first, so that the counts are current. */
  const countDamage = async () => {
    await Promise.all(Object.values(views).map((view) => view()));
    return damage.counts();
  };
  const snapshots = composeSnapshots(core, replication, others);
  return {
    ...core,
    snapshots,
    backups: composeBackups(core, snapshots),
    administration,
    replication,
    countDamage,
    loginLimits: createLoginRenewals(core.logins, others.authMethods),
    build: {
      versions: { own: VERSION, compatible: parts.config.compatibleVersion },
      storageType: parts.storageType ?? 'sqlite',
    },
    nodes: createNodes({ store, clock, hostname: hostname(), version: VERSION }),
    versions: createVersionHistory({ store, clock, version: VERSION }),
  };
};

export type SysContext = ReturnType<typeof composeContext>;
