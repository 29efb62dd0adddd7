/** `sys/ha-status`. */
import type { Route } from '@keelson/edge';
import { dialectRules, secretsRoutes } from '@keelson/secrets-api';
import type { Nodes } from './node-operations.ts';

/** @param compatibleVersion version reported to the vendor's clients */
export const nodeRoutes = (nodes: Nodes, compatibleVersion: string): Route[] =>
  secretsRoutes({
    path: '/sys/ha-status',
    tag: 'health',
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
  });
