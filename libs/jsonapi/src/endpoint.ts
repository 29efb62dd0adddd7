import type { EdgeMethod } from '@keelson/edge';
import type { Principal, RequestHead } from '@keelson/proto/edge/v1/edge';
import type { Static, TSchema } from 'typebox';
import type { JsonApiDocument } from './document.ts';
import type { QueryParameters } from './query.ts';
import type { AttributeAliases, CheckTexts } from './request-body.ts';

/** Path prefix of every link. */
export const API_PREFIX = '/api/v2';

export interface JsonApiExchange<Body> {
  readonly head: RequestHead;
  readonly params: Readonly<Record<string, string>>;
  readonly query: QueryParameters;
  readonly principal: Principal;
  /** The decoded document; undefined when the body is optional and empty. */
  readonly body: Body;
  readonly signal: AbortSignal;
}

/** Where the content itself is found. */
export interface Redirect {
  readonly status: 302 | 307;
  readonly location: string;
}

export interface DocumentAnswer {
  readonly status?: number;
  readonly document: JsonApiDocument;
  /** See `EdgeResponse.stands`. */
  readonly stands?: (() => Promise<boolean>) | undefined;
}

/** `undefined` answers 204, or 202 where that is the status of success. */
export type Answer = DocumentAnswer | Redirect | undefined;

export interface EndpointDefinition<S extends TSchema, Optional extends boolean> {
  readonly method: EdgeMethod;
  /** Below /api/v2. */
  readonly path: string;
  readonly summary: string;
  readonly body?: {
    readonly schema: S;
    /** An empty body is accepted. */
    readonly optional?: Optional;
    /** Old or vendor names and what they are called here. */
    readonly aliases?: AttributeAliases;
    /** See `CheckTexts`. */
    readonly check?: CheckTexts;
    /** 1 MiB when omitted. */
    readonly limitBytes?: number;
  };
  /** Status of success, 200 when omitted. */
  readonly success?: 200 | 201 | 202 | 204;
  handle(
    exchange: JsonApiExchange<Optional extends true ? Static<S> | undefined : Static<S>>,
  ): Promise<Answer>;
}

/** An endpoint whose body type is no longer visible. */
export type Endpoint = EndpointDefinition<TSchema, boolean>;

/** Checks an endpoint's handler against its body and hides the body's type. */
export const endpoint = <S extends TSchema, Optional extends boolean = false>(
  definition: EndpointDefinition<S, Optional>,
): Endpoint => definition as unknown as Endpoint;
