/** The routes that entities and groups have in common: both are found by id, by name and by an alias. */
import type { Route } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import {
  type Fields,
  type FieldValues,
  field,
  type JsonObject,
  type OperationContext,
  type Result,
  secretsRoutes,
} from '@keelson/secrets-api';
import type { GivenName } from './domain/entity.ts';

export const TAG = 'identity';
export const MAX_TEXT = 512;

/** An alias by its id, or by its name at a mount. */
export type GivenAlias =
  | { readonly id: string }
  | { readonly name: string; readonly mountAccessor: string };

export interface NamedObjects<S extends Fields> {
  readonly kind: 'entity' | 'group';
  /** The words of the OpenAPI document: "an entity", "entities". */
  readonly words: { readonly one: string; readonly all: string; readonly deletion: string };
  readonly settings: S;
  readonly put: (
    namespaceId: string,
    named: GivenName,
    settings: FieldValues<S>,
  ) => Promise<Result>;
  /** The document of an object; undefined if there is none. */
  readonly read: (namespaceId: string, id: string) => Promise<JsonObject | undefined>;
  readonly readByName: (namespaceId: string, name: string) => Promise<JsonObject | undefined>;
  readonly readOfAlias: (namespaceId: string, alias: GivenAlias) => Promise<JsonObject | undefined>;
  readonly remove: (namespaceId: string, named: GivenName) => Promise<void>;
  readonly list: (namespaceId: string, by: 'id' | 'name') => Promise<JsonObject>;
}

const text = (description: string) => field.string({ description, maxLength: MAX_TEXT });

const toAnswer = async (
  found: Promise<JsonObject | undefined>,
): Promise<{ data: JsonObject } | undefined> => {
  const data = await found;
  return data && { data };
};

const lookupFields = (kind: string) => ({
  id: text(`Id of the ${kind}.`),
  name: text(`Name of the ${kind}.`),
  alias_id: text(`Id of an alias of the ${kind}.`),
  alias_name: text(`Name of an alias of the ${kind}, with alias_mount_accessor.`),
  alias_mount_accessor: text('Accessor of the mount of alias_name.'),
});

const lookUp = <S extends Fields>(
  objects: NamedObjects<S>,
  { namespace, fields }: OperationContext<FieldValues<ReturnType<typeof lookupFields>>>,
): Promise<JsonObject | undefined> => {
  const { id, name, alias_id, alias_name, alias_mount_accessor: mountAccessor } = fields;
  if (id !== undefined) return objects.read(namespace.id, id);
  if (name !== undefined) return objects.readByName(namespace.id, name);
  if (alias_id !== undefined) return objects.readOfAlias(namespace.id, { id: alias_id });
  if (alias_name === undefined || mountAccessor === undefined)
    throw new KeelsonError('request.invalid', {
      text: 'id, name, alias_id, or alias_name and alias_mount_accessor together must be given',
    });
  return objects.readOfAlias(namespace.id, { name: alias_name, mountAccessor });
};

/** `identity/<kind>`, below it `id` and `name`, and `identity/lookup/<kind>`. */
export const namedRoutes = <S extends Fields>(objects: NamedObjects<S>): Route[] => {
  const { kind, words, settings } = objects;
  const names = { id: text(`Id of the ${kind}.`), name: text(`Name of the ${kind}.`) };
  const fields: Fields = { ...names, ...settings };
  const put = (
    { namespace, fields: given }: OperationContext<FieldValues<Fields>>,
    only?: 'name',
  ): Promise<Result> => {
    // The compiler does not see that the values of all fields include those of the settings and of the names.
    const values = given as FieldValues<S> & FieldValues<typeof names>;
    const id = only === undefined ? values.id : undefined;
    // Clients send empty text for a name that is not given.
    const named = { id, name: values.name || undefined };
    return objects.put(namespace.id, named, values);
  };
  return [
    ...secretsRoutes({
      path: `/identity/${kind}`,
      tag: TAG,
      fields,
      operations: {
        update: {
          summary: `Create ${words.one}, or change the one that the id or name is of`,
          handle: (exchange) => put(exchange),
        },
      },
    }),
    ...(['id', 'name'] as const).flatMap((by) =>
      secretsRoutes({
        path: `/identity/${kind}/${by}`,
        tag: TAG,
        fields: {},
        operations: {
          list: {
            summary: `List ${words.all} by their ${by}s`,
            handle: async ({ namespace }) => ({ data: await objects.list(namespace.id, by) }),
          },
        },
      }),
    ),
    ...secretsRoutes({
      path: `/identity/${kind}/id/:id`,
      tag: TAG,
      hasSettings: true,
      fields,
      operations: {
        read: {
          summary: `Read ${words.one}`,
          handle: ({ namespace, params: { id = '' } }) => toAnswer(objects.read(namespace.id, id)),
        },
        update: {
          summary: `Change ${words.one}; parameters that are not given stay as they are`,
          handle: (exchange) => put(exchange),
        },
        delete: {
          summary: words.deletion,
          handle: async ({ namespace, params: { id } }) => {
            await objects.remove(namespace.id, { id, name: undefined });
            return undefined;
          },
        },
      },
    }),
    ...secretsRoutes({
      path: `/identity/${kind}/name/:name`,
      tag: TAG,
      hasSettings: true,
      fields: { name: names.name, ...settings } as Fields,
      operations: {
        read: {
          summary: `Read ${words.one} by its name`,
          handle: ({ namespace, params: { name = '' } }) =>
            toAnswer(objects.readByName(namespace.id, name)),
        },
        update: {
          summary: `Create ${words.one} or change it; parameters that are not given stay as they are`,
          handle: (exchange) => put(exchange, 'name'),
        },
        delete: {
          summary: words.deletion,
          handle: async ({ namespace, params: { name } }) => {
            await objects.remove(namespace.id, { id: undefined, name });
            return undefined;
          },
        },
      },
    }),
    ...secretsRoutes({
      path: `/identity/lookup/${kind}`,
      tag: TAG,
      fields: lookupFields(kind),
      operations: {
        update: {
          summary: `Look up ${words.one}; 204 if there is none`,
          handle: (exchange) => toAnswer(lookUp(objects, exchange)),
        },
      },
    }),
  ];
};
