/** Lists of the names of roles and users, which every method has. */
import type { Route } from '@keelson/edge';
import { requireMount } from '@keelson/engine';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import { secretsRoutes } from '@keelson/secrets-api';

export interface NameList {
  /** Such as "/jwt/role". */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  /** All names at a mount, sorted. */
  readonly namesAt: (mount: Mount) => Promise<readonly string[]>;
}

export const nameListRoutes = ({ path, tag, summary, namesAt }: NameList): Route[] =>
  secretsRoutes({
    path,
    tag,
    fields: {},
    operations: {
      list: {
        summary,
        handle: async (request) => ({ data: { keys: await namesAt(requireMount(request)) } }),
      },
    },
  });
