/** `sys/plugins/catalog`: the engines that can be mounted. All are part of Keelson; others cannot be added. */
import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { field, type JsonObject, secretsRoutes } from '@keelson/secrets-api';
import type { EngineType } from './engine-type-records.ts';

const TAG = 'mounts';
const KINDS = ['auth', 'database', 'secret'] as const;
type Kind = (typeof KINDS)[number];

const type = field.string({ description: '`auth`, `database` or `secret`.', required: true });

export interface EngineCatalogOptions {
  readonly engineTypes: () => Promise<ReadonlyMap<string, EngineType>>;
  /** Version of Keelson. */
  readonly version: string;
}

const requireKind = (given: string): Kind => {
  const kind = KINDS.find((one) => one === given);
  if (kind !== undefined) return kind;
  throw new KeelsonError('request.invalid', {
    text: `type must be one of ${KINDS.join(', ')}, not "${given}"`,
  });
};

export const engineCatalogRoutes = ({ engineTypes, version }: EngineCatalogOptions): Route[] => {
  const namesOf = async (kind: Kind): Promise<string[]> => {
    if (kind === 'database') return [];
    const types = [...(await engineTypes()).values()];
    return types
      .filter(({ isAuthMethod }) => isAuthMethod === (kind === 'auth'))
      .map(({ type }) => type)
      .concat(kind === 'auth' ? ['token'] : [])
      .sort();
  };
  const builtIn = (name: string): JsonObject => ({
    builtin: true,
    deprecation_status: 'supported',
    name,
    version: `v${version}+builtin`,
  });
  const all = {
    summary: 'Engines that can be mounted',
    handle: async () => {
      const named = await Promise.all(
        KINDS.map(async (kind) => [kind, await namesOf(kind)] as const),
      );
      const detailed = named.flatMap(([kind, names]) =>
        names.map((name) => ({ ...builtIn(name), type: kind })),
      );
      return { data: { ...Object.fromEntries(named), detailed } };
    },
  };
  return [
    ...secretsRoutes({
      path: '/sys/plugins/catalog',
      tag: TAG,
      fields: {},
      operations: { read: all, list: all },
    }),
    ...secretsRoutes({
      path: '/sys/plugins/catalog/:type',
      tag: TAG,
      fields: { type },
      operations: {
        list: {
          summary: 'Engines of a type',
          handle: async ({ fields }) => ({
            data: { keys: await namesOf(requireKind(fields.type)) },
          }),
        },
      },
    }),
    ...secretsRoutes({
      path: '/sys/plugins/catalog/:type/:name',
      tag: TAG,
      fields: { type, name: field.string({ description: 'Name of the engine.', required: true }) },
      operations: {
        read: {
          summary: 'An engine',
          handle: async ({ fields }) => {
            const names = await namesOf(requireKind(fields.type));
            if (!names.includes(fields.name)) return undefined;
            return { data: { ...builtIn(fields.name), args: [], command: '', sha256: '' } };
          },
        },
      },
    }),
  ];
};
