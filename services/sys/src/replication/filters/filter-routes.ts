/** `sys/replication/performance/…/paths-filter` and `…/dynamic-filter`. */
import type { Route } from '@keelson/edge';
import { field, mirrored, secretsRoutes } from '@keelson/secrets-api';
import {
  deleteFilter,
  type FilterContext,
  filteredForSecondary,
  filteredFromHere,
  readFilter,
  writeFilter,
} from './filter-operations.ts';

const TAG = 'replication';
const BASE = '/sys/replication/performance';
const ID = field.string({
  description:
    'Id of a secondary or of an issued token; or the id of the cluster that it is; or that of the replication set, where it has one secondary.',
  required: true,
});

export const filterRoutes = (context: FilterContext): Route[] => [
  ...secretsRoutes({
    path: `${BASE}/primary/paths-filter/:id`,
    tag: TAG,
    hasSettings: true,
    fields: {
      id: ID,
      mode: field.string({
        description: '"allow": only the listed paths cross; "deny": all but these.',
        default: 'allow',
      }),
      paths: field.commaList({
        description: 'Paths of mounts and namespaces; a namespace includes everything below it.',
        default: [],
      }),
    },
    operations: {
      read: {
        summary: 'Show which paths a secondary receives',
        answer: { mirrored: {} },
        handle: async ({ fields }) => {
          const { mode, paths } = await readFilter(context, fields.id);
          return mirrored({ mode, paths: [...paths] });
        },
      },
      update: {
        summary: 'Set the paths filter of a secondary; withheld data is removed from it',
        handle: async ({ fields, warnings }) => {
          const absent = await writeFilter(context, fields.id, fields.mode, fields.paths);
          if (absent.length > 0)
            warnings.push(
              `there is no mount or namespace at ${absent.join(', ')}; the filter will apply to what is created there`,
            );
          return undefined;
        },
      },
      delete: {
        summary: 'Remove the paths filter of a secondary',
        handle: async ({ fields }) => {
          await deleteFilter(context, fields.id);
          return undefined;
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${BASE}/primary/dynamic-filter/:id`,
    tag: TAG,
    fields: { id: ID },
    operations: {
      read: {
        summary: 'The mounts and namespaces that are kept from a secondary',
        answer: { mirrored: {} },
        handle: async ({ fields }) =>
          mirrored({ ...(await filteredForSecondary(context, fields.id)) }),
      },
    },
  }),
  ...secretsRoutes({
    path: `${BASE}/secondary/dynamic-filter/:id`,
    tag: TAG,
    fields: { id: ID },
    operations: {
      read: {
        summary:
          'The mounts and namespaces that are kept from this cluster, as far as it has none of them',
        answer: { mirrored: {} },
        handle: async ({ fields }) => mirrored({ ...(await filteredFromHere(context, fields.id)) }),
      },
    },
  }),
];
