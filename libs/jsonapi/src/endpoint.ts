import type { EdgeMethod } from '@keelson/edge';
import type { Principal, RequestHead } from '@keelson/proto/edge/v1/edge';
import type { Static, TSchema } from 'typebox';
import type { AnswerSchema, DataOf } from './answer-schema.ts';
import type { DocumentData, JsonApiDocument } from './document.ts';
import type { ParamsOf } from './path-parameters.ts';
import type { QueryParameters, QuerySchema } from './query.ts';
import type { AttributeAliases, CheckTexts } from './request-body.ts';
import type { UnsupportedFields } from './unsupported-fields.ts';

/** Path prefix of every link. */
export const API_PREFIX = '/api/v2';

export interface JsonApiExchange<Body, Path extends string = string> {
  readonly head: RequestHead;
  readonly params: ParamsOf<Path>;
  readonly query: QueryParameters;
  readonly principal: Principal;
  /** The decoded document; undefined when the body is optional and empty. */
  readonly body: Body;
}

/** Location of the content, as an HTTP redirect. */
export interface Redirect {
  readonly status: 302 | 307;
  readonly location: string;
}

export interface DocumentAnswer<Data extends DocumentData = DocumentData> {
  readonly document: JsonApiDocument<Data>;
  /** See `EdgeResponse.isStillValid`. */
  readonly isStillValid?: (() => Promise<boolean>) | undefined;
}

/** `undefined` is answered with 204, or with 202 if that is the status of success. */
export type Answer<Data extends DocumentData = DocumentData> =
  | DocumentAnswer<Data>
  | Redirect
  | undefined;

export interface EndpointDefinition<
  S extends TSchema,
  Optional extends boolean,
  A extends AnswerSchema | undefined,
  Path extends string = string,
> {
  readonly method: EdgeMethod;
  /** Below /api/v2. */
  readonly path: Path;
  /** Whether a request needs no token; see `openEndpoint`. */
  readonly isOpen?: true;
  readonly summary: string;
  /** Parameters of the query that the handler reads; another one causes an error. */
  readonly query?: QuerySchema;
  readonly body?: {
    readonly schema: S;
    /** Whether an empty body is accepted. */
    readonly optional?: Optional;
    /** Old and vendor-specific names, and the names they have here. */
    readonly aliases?: AttributeAliases;
    /** See `CheckTexts`. */
    readonly check?: CheckTexts;
    /** Fields that are refused with 422 when they ask for something. */
    readonly notOffered?: UnsupportedFields;
    /** Fields that are accepted, with a warning in `meta` when they ask for something. */
    readonly withoutEffect?: UnsupportedFields;
    /** 1 MiB when omitted. */
    readonly limitBytes?: number;
  };
  /** The document of success; without it the handler answers with none. */
  readonly answers?: A;
  /** Status of a redirection to the content, for endpoints that answer with one. */
  readonly redirects?: Redirect['status'];
  /** Whether the answer may be 204 in place of a document or a redirection. */
  readonly mayBeEmpty?: boolean;
  /** Status of success: by default 200 with a document and 204 without. */
  readonly success?: 200 | 201 | 202 | 204;
  handle(
    exchange: JsonApiExchange<Optional extends true ? Static<S> | undefined : Static<S>, Path>,
  ): Promise<Answer<DataOf<A>>>;
}

/** An endpoint without the types of its body and its answer, for lists of endpoints. */
export type Endpoint = EndpointDefinition<TSchema, boolean, AnswerSchema>;

/** Type-checks an endpoint's handler against its path, its body and its answer, and then hides their types. */
export const endpoint = <
  S extends TSchema,
  Optional extends boolean = false,
  A extends AnswerSchema | undefined = undefined,
  const Path extends string = string,
>(
  definition: EndpointDefinition<S, Optional, A, Path>,
): Endpoint => definition as unknown as Endpoint;

/** The part of a request that a handler sees which does not know its caller. */
export type OpenExchange<Body, Path extends string = string> = Omit<
  JsonApiExchange<Body, Path>,
  'principal'
>;

interface OpenDefinition<
  S extends TSchema,
  Optional extends boolean,
  A extends AnswerSchema | undefined,
  Path extends string,
> extends Omit<EndpointDefinition<S, Optional, A, Path>, 'handle' | 'isOpen'> {
  handle(
    exchange: OpenExchange<Optional extends true ? Static<S> | undefined : Static<S>, Path>,
  ): Promise<Answer<DataOf<A>>>;
}

/** An endpoint for everybody, because it needs no credential, or has it in its document. */
export const openEndpoint = <
  S extends TSchema,
  Optional extends boolean = false,
  A extends AnswerSchema | undefined = undefined,
  const Path extends string = string,
>(
  definition: OpenDefinition<S, Optional, A, Path>,
): Endpoint => ({ ...definition, isOpen: true }) as unknown as Endpoint;
