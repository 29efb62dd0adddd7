/** Sparse fieldsets (JSON:API 1.0, "Sparse Fieldsets"): `fields[workspaces]=name,current-run`. */
import { KeelsonError } from '@keelson/errors';
import type { JsonApiDocument, Resource } from './document.ts';
import type { QueryParameters } from './query.ts';
import { isResourceType } from './resource-types.ts';

/** The requested attributes and relationships by resource type. */
export type SparseFields = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Underscores in names are read as hyphens, as in `include`. Unknown fields of a type are ignored,
 * because clients send the same list to newer and older servers.
 * @throws KeelsonError `jsonapi.invalid_fields` for a type that no document has
 */
export const parseFields = (query: QueryParameters): SparseFields => {
  const fields = new Map<string, ReadonlySet<string>>();
  for (const type of query.children('fields')) {
    if (!isResourceType(type)) {
      throw new KeelsonError('jsonapi.invalid_fields', {
        name: type,
        parameter: `fields[${type}]`,
      });
    }
    const names = query.list('fields', type).map((name) => name.replaceAll('_', '-'));
    fields.set(type, new Set(names));
  }
  return fields;
};

const pick = <T>(
  from: Readonly<Record<string, T>>,
  wanted: ReadonlySet<string>,
): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(from).filter(([name]) => wanted.has(name)));

const restrict = (resource: Resource, fields: SparseFields): Resource => {
  const wanted = fields.get(resource.type);
  if (wanted === undefined) return resource;
  const { attributes, relationships, ...rest } = resource;
  return {
    ...rest,
    ...(attributes && { attributes: pick(attributes, wanted) }),
    ...(relationships && { relationships: pick(relationships, wanted) }),
  };
};

/** The document with only the requested fields; types that are not named keep all fields. */
export const withFields = (document: JsonApiDocument, fields: SparseFields): JsonApiDocument => {
  if (fields.size === 0) return document;
  const { data, included } = document;
  const each = (resources: readonly Resource[]) =>
    resources.map((resource) => restrict(resource, fields));
  return {
    ...document,
    data: data === null ? null : 'id' in data ? restrict(data, fields) : each(data),
    ...(included && { included: each(included) }),
  };
};
