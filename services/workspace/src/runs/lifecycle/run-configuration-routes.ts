import type { Route } from '@keelson/edge';
import { jsonApiRoutes } from '@keelson/jsonapi';
import { configurationReadEndpoints } from '../../state/configuration-versions/configuration-version-routes.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import { requireRun } from './run-operations.ts';

/** The configuration that a run works on. */
export const runConfigurationRoutes = (context: RunsContext): Route[] =>
  jsonApiRoutes(
    'configuration versions',
    configurationReadEndpoints(
      context,
      {
        show: '/runs/:run_id/configuration-version',
        download: '/runs/:run_id/configuration-version/download',
      },
      async (principal, params) => {
        const { run } = await requireRun(context.store, principal, params.run_id);
        return run.configurationVersionId;
      },
    ),
  );
