/** Work at a repository as its agent receives it. */
import {
  type AttributesOf,
  choice,
  dictionary,
  orNull,
  type ResourceOf,
  resourceSchema,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import { MAX_ARCHIVE_BYTES } from '../../state/model/domain/configuration-version.ts';
import { toFetchSource } from '../ingress/fetch-operations.ts';
import {
  MAX_ANSWER_BYTES,
  REQUEST_TIME_LIMIT_MS,
  toHttpRequest,
} from '../providers/provider-requests.ts';
import type { VcsContext } from '../seams/vcs-context.ts';
import type { OrderedWork, WorkOrder } from './agent-work-operations.ts';

const text = Type.String();
const bytes = Type.Optional(Type.Integer({ description: 'In bytes.' }));

export const AGENT_REPOSITORY_WORK = resourceSchema({
  type: 'agent-repository-work',
  description:
    'Work at a repository: to fetch a commit or to send a request. The answer to the report of a commit has only `archives`.',
  attributes: {
    kind: Type.Optional(choice(['fetch', 'request'])),
    'time-limit-seconds': Type.Optional(Type.Number()),
    'clone-url': Type.Optional(text),
    username: Type.Optional(text),
    token: Type.Optional(text),
    'ssh-private-key': Type.Optional(text),
    ref: Type.Optional(orNull(text)),
    'only-if-default-branch': Type.Optional(orNull(text)),
    'base-sha': Type.Optional(orNull(text)),
    'limit-bytes': bytes,
    'archive-limit-bytes': bytes,
    method: Type.Optional(text),
    url: Type.Optional(text),
    headers: Type.Optional(dictionary(text)),
    body: Type.Optional(orNull(text)),
    'answer-limit-bytes': bytes,
    archives: Type.Optional(
      Type.Array(
        Type.Object({
          'with-submodules': Type.Boolean(),
          'upload-url': Type.String({ description: 'Signed.' }),
        }),
        { description: 'The archives that are wanted.' },
      ),
    ),
  },
});

const toAttributes = (
  { fetchLimits }: VcsContext,
  order: WorkOrder,
): AttributesOf<typeof AGENT_REPOSITORY_WORK.attributes> => {
  if (order.kind === 'fetch') {
    const { prepared, request } = order;
    const { cloneUrl, username, token, sshKey } = toFetchSource(prepared.loaded);
    return {
      kind: 'fetch',
      'clone-url': cloneUrl,
      username,
      ...(token !== undefined && { token }),
      ...(sshKey !== undefined && { 'ssh-private-key': sshKey }),
      ref: request.ref,
      'only-if-default-branch': request.onlyIfDefaultBranch,
      'base-sha': request.baseSha,
      'time-limit-seconds': fetchLimits.timeLimitMs / 1000,
      'limit-bytes': fetchLimits.limitBytes,
      'archive-limit-bytes': MAX_ARCHIVE_BYTES,
    };
  }
  const { method, url, headers, body } = toHttpRequest(order.errand.request);
  return {
    kind: 'request',
    method,
    url,
    headers,
    body: body ?? null,
    'time-limit-seconds': REQUEST_TIME_LIMIT_MS / 1000,
    'answer-limit-bytes': MAX_ANSWER_BYTES,
  };
};

export const toWorkResource = (
  context: VcsContext,
  { claimId, order }: OrderedWork,
): ResourceOf<typeof AGENT_REPOSITORY_WORK> => ({
  id: claimId,
  type: 'agent-repository-work',
  attributes: toAttributes(context, order),
});
