/** Declaration of an endpoint, and the arguments of its handlers. */
import type { EdgeMethod, EdgeRequest } from '@keelson/edge';
import type { Caller, Dialect, Mount, Namespace, RequestHead } from '@keelson/proto/edge/v1/edge';
import type { Answer, FinalAnswer } from './answers.ts';
import type { JsonObject } from './coercions.ts';
import type { Fields, FieldValues, PartialFieldValues } from './fields.ts';
import type { PageChoice } from './list-pages.ts';

export interface OperationContext<Values> {
  readonly head: RequestHead;
  /** Path parameters as text; those declared as fields are also in `fields`. */
  readonly params: Readonly<Record<string, string>>;
  readonly fields: Values;
  /** Names of parameters that were sent (null counts as sent in a PATCH only). */
  readonly given: ReadonlySet<string>;
  /** Everything that was sent, declared or not, after path parameters replaced their namesakes. */
  readonly data: JsonObject;
  /** Texts that are added to the warnings of the response. */
  readonly warnings: string[];
  readonly mount: Mount | undefined;
  readonly caller: Caller | undefined;
  readonly namespace: Namespace;
  readonly dialect: Dialect;
  /** The request itself; its signal aborts when the client disconnects. */
  readonly request: EdgeRequest;
}

export type Result = Answer | FinalAnswer | undefined;

/**
 * The answer of an operation in the OpenAPI document: bytes of a media type, members of `data` in the
 * envelope (`mirrored`: at the top level too, none if their names are not known), or members of a document
 * without envelope. Members are JSON Schemas by name.
 */
export type DescribedAnswer = {
  /** Further statuses that have the content of 200; none when omitted. */
  readonly statuses?: readonly number[];
  /** Refusals in the words of another protocol, whose members these are; a parameter is refused as everywhere. */
  readonly refusals?: { readonly statuses: readonly number[]; readonly document: JsonObject };
  /** A person may see the answer in a browser: it may be a page, of a refusal too, and a redirection (303). */
  readonly isForBrowsers?: true;
} & (
  | { readonly mediaType: string }
  | { readonly data: JsonObject }
  | { readonly mirrored: JsonObject }
  | { readonly document: JsonObject }
);

/** An envelope with any data, also with 202 for work that goes on. */
export const ACCEPTED: DescribedAnswer = { mirrored: {}, statuses: [202] };

export interface Operation<Values> {
  readonly summary: string;
  readonly description?: string;
  /** An envelope with any data when omitted. */
  readonly answer?: DescribedAnswer;
  /**
   * Whether other parameters than the declared fields are part of the request, so that they cause no warning.
   */
  readonly anyParameters?: true;
  handle(context: OperationContext<Values>): Promise<Result> | Result;
}

/** Its fields include `after` and `limit`. */
export interface ListOperation<Values> extends Operation<Values & PageChoice> {
  /**
   * Whether the handler answers with the page that the request asks for, because it reads no more from the store or
   * its answer has more than `keys` and `key_info`. Otherwise the page is taken from the whole list that it answers
   * with.
   */
  readonly pagesItself?: true;
}

export interface Operations<F extends Fields> {
  readonly read?: Operation<FieldValues<F>>;
  readonly list?: ListOperation<FieldValues<F>>;
  /** POST and PUT. */
  readonly update?: Operation<FieldValues<F>>;
  readonly patch?: Operation<PartialFieldValues<F>>;
  readonly delete?: Operation<FieldValues<F>>;
}

export const METHODS_OF: Readonly<Record<keyof Operations<Fields>, readonly EdgeMethod[]>> = {
  read: ['GET'],
  list: ['LIST'],
  update: ['POST', 'PUT'],
  patch: ['PATCH'],
  delete: ['DELETE'],
};
