/** `sys/ha-status`, `sys/host-info`, `sys/version-history`. */
import type { Clock } from '@keelson/clock';
import type { Route } from '@keelson/edge';
import { dialectRules, secretsRoutes } from '@keelson/secrets-api';
import { hostDocument, type RunnerStatus } from './host-document.ts';
import type { Nodes } from './node-operations.ts';
import type { VersionHistory } from './version-history.ts';

const TAG = 'health';

export interface NodeRouteOptions {
  readonly nodes: Nodes;
  readonly versions: VersionHistory;
  readonly clock: Clock;
  /** Version reported to the vendor's clients. */
  readonly compatibleVersion: string;
  readonly runner: RunnerStatus | undefined;
}

export const nodeRoutes = ({
  nodes,
  versions,
  clock,
  compatibleVersion,
  runner,
}: NodeRouteOptions): Route[] => [
  ...secretsRoutes({
    path: '/sys/ha-status',
    tag: TAG,
    fields: {},
    operations: {
      read: {
        summary: 'Nodes of the cluster',
        handle: async ({ dialect }) => {
          const listed = await nodes.list();
          return {
            data: {
              nodes: listed.map(({ hostname, version, lastEchoMs }) => ({
                hostname,
                api_address: '',
                cluster_address: '',
                // Every replica is active: all of them read and write the same store.
                active_node: true,
                last_echo: lastEchoMs === undefined ? null : new Date(lastEchoMs).toISOString(),
                version: dialectRules(dialect).version({
                  own: version,
                  compatible: compatibleVersion,
                }),
              })),
            },
          };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: '/sys/host-info',
    tag: TAG,
    fields: {},
    operations: {
      read: {
        summary: 'The machine of the process that answers',
        handle: () => ({ data: hostDocument(clock.nowMs(), runner) }),
      },
    },
  }),
  ...secretsRoutes({
    path: '/sys/version-history',
    tag: TAG,
    fields: {},
    operations: {
      list: {
        summary: 'Versions that have run on this cluster',
        handle: async () => {
          const installed = await versions.list();
          return {
            data: {
              keys: installed.map(({ version }) => version),
              key_info: Object.fromEntries(
                installed.map(({ version, installedAtMs, previous }) => [
                  version,
                  {
                    build_date: '',
                    previous_version: previous ?? null,
                    timestamp_installed: new Date(installedAtMs).toISOString(),
                  },
                ]),
              ),
            },
          };
        },
      },
    },
  }),
];
