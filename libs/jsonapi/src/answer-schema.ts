/** Declarations of answers: for the OpenAPI document, and as the types of handlers. */
import type { TProperties } from 'typebox';
import type { Resource } from './document.ts';
import type { ResourceType } from './resource-types.ts';

/** Types of the resources that each name in `include` adds to a document; none for names without effect. */
export type Includes = Readonly<Record<string, readonly ResourceType[]>>;

type Kind = 'one' | 'one or none' | 'list' | 'page';

export interface AnswerSchema<K extends Kind = Kind, T extends ResourceType = ResourceType> {
  readonly kind: K;
  /** Each resource is of one of these types. */
  readonly types: readonly T[];
  /** Allowed in `include`; undefined where the endpoint does not read it. */
  readonly includes?: Includes | undefined;
  /** Types that are included without being asked for. */
  readonly alwaysIncluded?: readonly ResourceType[];
  /** Members of `meta` in addition to those of all answers of the kind. */
  readonly meta?: TProperties;
  /** Names of links of the document. */
  readonly links?: readonly string[];
}

type Options = Pick<AnswerSchema, 'includes' | 'alwaysIncluded' | 'meta' | 'links'>;

const answerOf =
  <K extends Kind>(kind: K) =>
  <const T extends ResourceType>(
    types: T | readonly T[],
    options: Options = {},
  ): AnswerSchema<K, T> => ({ kind, types: [types].flat() as readonly T[], ...options });

/** A document with one resource. */
export const one = answerOf('one');

/** A document with one resource or null. */
export const oneOrNone = answerOf('one or none');

/** A document with all resources. */
export const many = answerOf('list');

/** A document with one page of the resources, see `toPaginatedDocument`. */
export const pageOf = answerOf('page');

interface DataOfKind<T extends ResourceType> {
  readonly one: Resource<T>;
  readonly 'one or none': Resource<T> | null;
  readonly list: readonly Resource<T>[];
  readonly page: readonly Resource<T>[];
}

/** The `data` of a document that answers as declared; never if nothing is declared. */
export type DataOf<A> = A extends AnswerSchema<infer K, infer T> ? DataOfKind<T>[K] : never;
