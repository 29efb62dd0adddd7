/** The periodic work of sys, by name. */
import { historyWork } from '@keelson/history';
import type { PeriodicWork } from '@keelson/locks';
import { backupWork } from './backups/backup-operations.ts';
import type { SysContext } from './compose-context.ts';
import { lagSampling } from './history/lag-sampling.ts';
import { sweepFinishedLogins } from './logins/login-operations.ts';
import { corruptionCheckWork } from './replication/corruption-check.ts';
import { fetchFilter } from './replication/filters/filter-operations.ts';
import { notifyFormerPrimaries, searchPrimary } from './replication/secondary-operations.ts';
import { rotateKeyWhenDue } from './seal/rotation-operations.ts';
import { removeExpired } from './tokens/token-revocation-operations.ts';

const TOKEN_EXPIRY_EVERY_MS = 1000;
const PRIMARY_SEARCH_EVERY_MS = 5000;
const FINISHED_LOGINS_EVERY_MS = 30_000;
const ACTIVITY_EVERY_MS = 30_000;
const TOKEN_USES_EVERY_MS = 30_000;
const ROTATION_EVERY_MS = 5 * 60_000;

/** Periodic work that writes only records local to the cluster. */
const LOCAL_WORK: ReadonlySet<string> = new Set([
  'token-expiry',
  'lease-expiry',
  'departures',
  'oidc-codes',
  'finished-logins',
  'activity',
  'token-uses',
  'history',
  'replication-lag',
  'primary-search',
  'node-echo',
  'version-history',
]);

/** Periodic work of every cluster, which writes no records that come from a primary. */
const OWN_WORK: ReadonlySet<string> = new Set(['corruption-check']);

const allWork = (context: SysContext): Readonly<Record<string, PeriodicWork>> => {
  const { administration, backups, tokens, replication, build, nodes, versions, rotation } =
    context;
  return {
    ...administration.periodicWork,
    ...corruptionCheckWork({
      everyHours: context.parts.config.corruptionCheckHours,
      clock: context.parts.clock,
      store: context.member.parts.store,
      upkeep: replication.upkeep,
    }),
    ...backupWork(backups),
    'token-expiry': {
      everyMs: TOKEN_EXPIRY_EVERY_MS,
      round: async (options) => (await removeExpired(tokens, options)) > 0,
    },
    'finished-logins': {
      everyMs: FINISHED_LOGINS_EVERY_MS,
      round: (options) => sweepFinishedLogins(tokens, options),
    },
    'primary-search': {
      everyMs: PRIMARY_SEARCH_EVERY_MS,
      round: async () => {
        await searchPrimary(replication.context);
        await notifyFormerPrimaries(replication.context);
        await fetchFilter(replication.context).catch(() => undefined);
        return false;
      },
    },
    // An SQLite file is used by one process only.
    ...(build.storageType !== 'sqlite' && { 'node-echo': nodes.echoing }),
    'version-history': versions.recording,
    // Runs in every replica: each notes the requests that it decides about.
    activity: {
      everyMs: ACTIVITY_EVERY_MS,
      inEveryReplica: true,
      round: async (options) => {
        await context.activity.write(options);
        return false;
      },
    },
    'token-uses': {
      everyMs: TOKEN_USES_EVERY_MS,
      inEveryReplica: true,
      round: async (options) => {
        await context.tokenUses.write(options);
        return false;
      },
    },
    history: historyWork(context.history),
    'replication-lag': lagSampling(context.history, replication.status),
    // Runs in every replica: each counts its own encryptions, and replicas that rotate agree on the term.
    'key-rotation': {
      everyMs: ROTATION_EVERY_MS,
      inEveryReplica: true,
      round: async () => {
        await rotateKeyWhenDue(rotation);
        return false;
      },
    },
  };
};

/** Work runs only while this cluster may write the records that it changes. */
export const sysPeriodicWork = (context: SysContext): Readonly<Record<string, PeriodicWork>> => {
  const { state, gate } = context;
  return Object.fromEntries(
    Object.entries(allWork(context)).map(([name, work]): [string, PeriodicWork] => [
      name,
      {
        ...work,
        round: async (options) => {
          await state.settled();
          const isOurs =
            gate.closed === 'none' ||
            OWN_WORK.has(name) ||
            (gate.closed === 'shared' && LOCAL_WORK.has(name));
          return isOurs ? work.round(options) : false;
        },
      },
    ]),
  );
};
