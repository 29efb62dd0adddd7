/** Calls of the workspace API (`/api/v2`), whose documents are JSON:API. */

import { ApiProblem, parsedBody, request } from './api-problem.ts';
import { endSession, readSession } from './session.ts';

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
  readonly signal?: AbortSignal;
  /** Token in place of the session's. */
  readonly token?: string;
}

interface JsonApiError {
  readonly title?: string;
  readonly detail?: string;
}

const textOf = (body: unknown, status: number): string => {
  const errors = (body as { errors?: readonly JsonApiError[] } | undefined)?.errors ?? [];
  const texts = errors.map(({ title, detail }) => detail ?? title ?? '').filter(Boolean);
  return texts.length > 0 ? texts.join('; ') : `the server answered ${status}`;
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
  const token = call.token ?? readSession().workspaces;
  const answer = await request(`/api/v2/${path}`, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(method !== 'GET' && { 'content-type': 'application/vnd.api+json' }),
    },
    ...(call.body && { body: JSON.stringify(call.body) }),
    ...(call.signal && { signal: call.signal }),
  });
  const body = await parsedBody(answer);
  if (answer.ok) return body as Document;
  if (answer.status === 401 && call.token === undefined && readSession().workspaces === token)
    endSession('workspaces', 'The API token has expired or was revoked. Sign in again to go on.');
  throw new ApiProblem(answer.status, textOf(body, answer.status));
};

/** The included resource that a relationship names. */
export const includedOne = <Attributes>(
  { included = [] }: { readonly included?: readonly Resource[] },
  resource: Resource<unknown>,
  relationship: string,
): Resource<Attributes> | undefined => {
  const named = resource.relationships?.[relationship]?.data;
  if (named === undefined || named === null || Array.isArray(named)) return undefined;
  const { id, type } = named as ResourceId;
  return included.find((one) => one.id === id && one.type === type) as
    | Resource<Attributes>
    | undefined;
};
