/** `sys/plugins/catalog`: the engines that can be mounted. All are part of Keelson; others cannot be added. */
import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import {
  field,
  type JsonObject,
  type PageChoice,
  pageOf,
  secretsRoutes,
} from '@keelson/secrets-api';
import type { EngineType } from './engine-type-records.ts';

const TAG = 'mounts';
const KINDS = ['auth', 'database', 'secret'] as const;
type Kind = (typeof KINDS)[number];

const EVERYTHING: PageChoice = { after: '', limit: 0 };

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
  /** The names of all kinds are one list, of which each kind has its own. */
  const catalog = async (page: PageChoice) => {
    const all = await Promise.all(KINDS.map(async (kind) => [kind, await namesOf(kind)] as const));
    const names = [...new Set(all.flatMap(([, own]) => own))].sort();
    const shown = new Set(pageOf(names, page));
    const named = all.map(([kind, own]) => [kind, own.filter((name) => shown.has(name))] as const);
    const detailed = named.flatMap(([kind, own]) =>
      own.map((name) => ({ ...builtIn(name), type: kind })),
    );
    return { data: { ...Object.fromEntries(named), detailed } };
  };
  const summary = 'Engines that can be mounted';
  return [
    ...secretsRoutes({
      path: '/sys/plugins/catalog',
      tag: TAG,
      fields: {},
      operations: {
        read: { summary, handle: () => catalog(EVERYTHING) },
        list: { summary, pagesItself: true, handle: ({ fields }) => catalog(fields) },
      },
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
