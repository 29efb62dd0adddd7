/**
 * Older replication paths, from when there was only one kind: `/sys/replication/primary/…` and
 * `…/secondary/…` mean performance replication, `mount-filter` a paths filter. Older clients still
 * use them.
 */
import type { Route } from '@keelson/edge';

const CURRENT = /^\/sys\/replication\/performance\/(?=(primary|secondary)\/)/;
const PATHS_FILTER = '/primary/paths-filter/';

const formerPathsOf = (path: string): readonly string[] => [
  ...(CURRENT.test(path) ? [path.replace(CURRENT, '/sys/replication/')] : []),
  ...(path.includes(PATHS_FILTER) ? [path.replace(PATHS_FILTER, '/primary/mount-filter/')] : []),
];

/** The routes, plus those of performance replication under their former paths. */
export const withFormerPaths = (routes: readonly Route[]): Route[] => [
  ...routes,
  ...routes.flatMap((route) =>
    formerPathsOf(route.path).map((path) => ({
      ...route,
      path,
      operation: () => ({ ...route.operation(), deprecated: true }),
    })),
  ),
];
