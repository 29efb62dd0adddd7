/** Shapes of JSON:API 1.0 documents (https://jsonapi.org/format/1.0/#document-structure). */
import type { ResourceType } from './resource-types.ts';

export interface ResourceIdentifier {
  readonly id: string;
  readonly type: string;
}

export interface Relationship {
  readonly data?: ResourceIdentifier | readonly ResourceIdentifier[] | null;
  readonly links?: Readonly<Record<string, string>>;
}

export interface Resource<T extends ResourceType = ResourceType> extends ResourceIdentifier {
  readonly type: T;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly relationships?: Readonly<Record<string, Relationship>>;
  readonly links?: Readonly<Record<string, string | null>>;
}

export type IncludedResources = readonly Resource[];

/** The resources that a document carries. */
export type DocumentData = Resource | readonly Resource[] | null;

export interface JsonApiDocument<Data extends DocumentData = DocumentData> {
  readonly data: Data;
  readonly included?: IncludedResources;
  readonly links?: Readonly<Record<string, string | null>>;
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** `meta` of a response to a successful request whose effect may differ from the caller's expectation. */
export const withWarnings = (
  warnings: readonly string[],
): { readonly meta?: { readonly warnings: readonly string[] } } =>
  warnings.length === 0 ? {} : { meta: { warnings } };

/** A relationship to one resource, or to none when `id` is null. */
export const toOne = (type: string, id: string | null, related?: string): Relationship => ({
  data: id === null ? null : { id, type },
  ...(related === undefined ? {} : { links: { related } }),
});

/** A relationship to several resources of one type. */
export const toMany = (type: string, ids: readonly string[], related?: string): Relationship => ({
  data: ids.map((id) => ({ id, type })),
  ...(related === undefined ? {} : { links: { related } }),
});

/**
 * The resource with the identifiers of included resources in a relationship that otherwise has only links.
 */
export const withLinkage = <R extends Resource>(
  resource: R,
  name: ResourceType,
  ids: readonly string[],
): R => ({
  ...resource,
  relationships: {
    ...resource.relationships,
    [name]: { ...resource.relationships?.[name], ...toMany(name, ids) },
  },
});
