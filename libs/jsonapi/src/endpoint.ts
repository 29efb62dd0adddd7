import type { EdgeMethod } from '@keelson/edge';
import type { Principal, RequestHead } from '@keelson/proto/edge/v1/edge';
import type { Static, TSchema } from 'typebox';
import type { JsonApiDocument } from './document.ts';
import type { QueryParameters } from './query.ts';
import type { AttributeAliases, CheckTexts } from './request-body.ts';
import type { UnsupportedFields } from './unsupported-fields.ts';

/** Path prefix of every link. */
export const API_PREFIX = '/api/v2';

export interface JsonApiExchange<Body> {
  readonly head: RequestHead;
  readonly params: Readonly<Record<string, string>>;
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

export interface DocumentAnswer {
  readonly status?: number;
  readonly document: JsonApiDocument;
  /** See `EdgeResponse.isStillValid`. */
  readonly isStillValid?: (() => Promise<boolean>) | undefined;
}

/** `undefined` is answered with 204, or with 202 if that is the status of success. */
export type Answer = DocumentAnswer | Redirect | undefined;

export interface EndpointDefinition<S extends TSchema, Optional extends boolean> {
  readonly method: EdgeMethod;
  /** Below /api/v2. */
  readonly path: string;
  readonly summary: string;
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
  /** Status of success, 200 when omitted. */
  readonly success?: 200 | 201 | 202 | 204;
  handle(
    exchange: JsonApiExchange<Optional extends true ? Static<S> | undefined : Static<S>>,
  ): Promise<Answer>;
}

/** An endpoint without the type of its body, for lists of endpoints. */
export type Endpoint = EndpointDefinition<TSchema, boolean>;

/** Type-checks an endpoint's handler against its body, and then hides the type of the body. */
export const endpoint = <S extends TSchema, Optional extends boolean = false>(
  definition: EndpointDefinition<S, Optional>,
): Endpoint => definition as unknown as Endpoint;
