/** Calls of the workspace API (`/api/v2`), whose documents are JSON:API. */

import { ApiProblem, type FieldFault, parsedBody, request } from './api-problem.ts';
import { warn } from './notices.ts';
import { endSession, readSession, sessionHeaders } from './session.ts';

export interface ResourceId {
  readonly id: string;
  readonly type: string;
}

export interface Resource<Attributes = Readonly<Record<string, unknown>>> extends ResourceId {
  readonly attributes: Attributes;
  readonly relationships?: Readonly<
    Record<string, { readonly data?: ResourceId | readonly ResourceId[] | null }>
  >;
}

export interface Pagination {
  readonly 'current-page': number;
  readonly 'total-pages': number;
  readonly 'total-count': number;
}

export interface OneDocument<Attributes> {
  readonly data: Resource<Attributes>;
  readonly included?: readonly Resource[];
}

export interface ListDocument<Attributes> {
  readonly data: readonly Resource<Attributes>[];
  readonly included?: readonly Resource[];
  readonly meta?: {
    readonly pagination?: Pagination;
    readonly 'status-counts'?: Readonly<Record<string, number>>;
  };
}

export type WorkspacesMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface WorkspacesCall {
  readonly body?: object;
  /** Given by reads, which their page can give up. */
  readonly signal?: AbortSignal;
  /** Token in place of the session's; "" sends none. */
  readonly token?: string;
}

interface WarnedDocument {
  readonly meta?: { readonly warnings?: readonly string[] };
}

interface JsonApiError {
  readonly title?: string;
  readonly detail?: string;
  readonly source?: { readonly pointer?: string };
}

const ATTRIBUTES = '/data/attributes/';

const faultOf = ({ title, detail, source }: JsonApiError): FieldFault => {
  const pointer = source?.pointer;
  const field =
    pointer?.startsWith(ATTRIBUTES) === true ? pointer.slice(ATTRIBUTES.length) : undefined;
  return { field, text: detail ?? title ?? '' };
};

const problemOf = (body: unknown, status: number): ApiProblem => {
  const errors = (body as { errors?: readonly JsonApiError[] } | undefined)?.errors ?? [];
  const faults = errors.map(faultOf).filter(({ text }) => text !== '');
  const texts = faults.map(({ text }) => text);
  const message = texts.length > 0 ? texts.join('; ') : `the server answered ${status}`;
  return new ApiProblem(status, message, faults);
};

const credentialsOf = (token: string | undefined): Readonly<Record<string, string>> => {
  if (token === undefined) return sessionHeaders();
  return token === '' ? {} : { authorization: `Bearer ${token}` };
};

/**
 * @param path below `/api/v2/`
 * @returns the answer's document; undefined for an answer without one
 * @throws {ApiProblem} for a status of 400 and above
 */
export const callWorkspaces = async <Document>(
  method: WorkspacesMethod,
  path: string,
  call: WorkspacesCall = {},
): Promise<Document> => {
  const { workspaces } = readSession();
  const answer = await request(`/api/v2/${path}`, {
    method,
    headers: {
      ...credentialsOf(call.token),
      ...(method !== 'GET' && { 'content-type': 'application/vnd.api+json' }),
    },
    ...(call.body && { body: JSON.stringify(call.body) }),
    ...(call.signal && { signal: call.signal }),
  });
  const body = await parsedBody(answer);
  if (answer.ok) {
    if (call.signal === undefined) warn((body as WarnedDocument | undefined)?.meta?.warnings);
    return body as Document;
  }
  if (answer.status === 401 && call.token === undefined && readSession().workspaces === workspaces)
    endSession('workspaces', 'The API token has expired or was revoked. Sign in again to go on.');
  throw problemOf(body, answer.status);
};

/** A document that may be absent. @returns null for a 404 */
export const findDocument = async <Document>(
  path: string,
  call: WorkspacesCall = {},
): Promise<Document | null> => {
  try {
    return await callWorkspaces<Document>('GET', path, call);
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return null;
    throw error;
  }
};

/** The resource that a relationship names; undefined for none and for a relationship with many. */
export const relatedOne = (
  { relationships }: Resource<unknown>,
  relationship: string,
): ResourceId | undefined => {
  const named = relationships?.[relationship]?.data;
  return named === undefined || named === null || Array.isArray(named)
    ? undefined
    : (named as ResourceId);
};

/** The included resource that a relationship names. */
export const includedOne = <Attributes>(
  { included = [] }: { readonly included?: readonly Resource[] },
  resource: Resource<unknown>,
  relationship: string,
): Resource<Attributes> | undefined => {
  const named = relatedOne(resource, relationship);
  return included.find((one) => one.id === named?.id && one.type === named.type) as
    | Resource<Attributes>
    | undefined;
};
