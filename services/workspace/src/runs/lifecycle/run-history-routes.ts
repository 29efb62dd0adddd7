/** Events of runs, and comments on them. */
import type { Route } from '@keelson/edge';
import {
  endpoint,
  type Includes,
  itemsOn,
  jsonApiRoutes,
  many,
  one,
  pageOf,
  parseInclude,
  parsePage,
  type Resource,
  resourceBody,
  toPaginatedDocument,
} from '@keelson/jsonapi';
import type { Reads } from '@keelson/storage';
import { Type } from 'typebox';
import { IncludedResources } from '../../base/included-resources.ts';
import { notFound } from '../../base/not-found.ts';
import { userRecords } from '../../identity/model/user-records.ts';
import { toUserResource } from '../../identity/users/user-document.ts';
import { MAX_COMMENT_LENGTH } from '../model/domain/run-comment.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import { createComment, loadComments, requireComment } from './run-comment-operations.ts';
import {
  listRunEvents,
  type RunEventFacts,
  toCommentResource,
  toRunEventResource,
  toRunIdOfEvent,
} from './run-history-document.ts';
import { requireRun } from './run-operations.ts';

const EVENT_INCLUDES: Includes = { actor: ['users'], comment: ['comments'] };

const CREATE = resourceBody(
  'comments',
  Type.Object({ body: Type.String({ minLength: 1, maxLength: MAX_COMMENT_LENGTH }) }),
);

const loadEventIncludes = async (
  reads: Reads,
  include: ReadonlySet<string>,
  events: readonly RunEventFacts[],
): Promise<readonly Resource[]> => {
  const included = new IncludedResources();
  const loadActor = async (id: string): Promise<Resource | undefined> => {
    const user = await userRecords.find(reads, id);
    return user && toUserResource(user);
  };
  for (const { actorId, comment } of events) {
    if (include.has('actor')) await included.add(loadActor(actorId ?? ''));
    if (include.has('comment') && comment !== null) {
      await included.add(Promise.resolve(toCommentResource(comment)));
    }
  }
  return included.all;
};

const COMMENTS = '/runs/:run_id/comments';

export const runHistoryRoutes = (context: RunsContext): Route[] => {
  const { store } = context;
  return jsonApiRoutes('runs', [
    endpoint({
      method: 'GET',
      path: '/runs/:run_id/run-events',
      summary: 'List the events of a run',
      answers: many('run-events', { includes: EVENT_INCLUDES }),
      handle: async ({ principal, params, query }) => {
        const include = parseInclude(query, EVENT_INCLUDES);
        const { run } = await requireRun(store, principal, params.run_id);
        const events = listRunEvents(run, await loadComments(store, run.id));
        const included = await loadEventIncludes(store, include, events);
        const data = events.map(toRunEventResource);
        return { document: included.length === 0 ? { data } : { data, included } };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/run-events/:run_event_id',
      summary: 'Show an event of a run',
      answers: one('run-events', { includes: EVENT_INCLUDES }),
      handle: async ({ principal, params, query }) => {
        const include = parseInclude(query, EVENT_INCLUDES);
        const id = params.run_event_id;
        const { run } = await requireRun(store, principal, toRunIdOfEvent(id));
        const events = listRunEvents(run, await loadComments(store, run.id));
        const event = events.find((one) => one.id === id);
        if (event === undefined) throw notFound('run event');
        const included = await loadEventIncludes(store, include, [event]);
        const data = toRunEventResource(event);
        return { document: included.length === 0 ? { data } : { data, included } };
      },
    }),
    endpoint({
      method: 'GET',
      path: COMMENTS,
      summary: 'List the comments on a run, oldest first',
      answers: pageOf('comments'),
      handle: async ({ head, principal, params, query }) => {
        const { run } = await requireRun(store, principal, params.run_id);
        const comments = await loadComments(store, run.id);
        const page = parsePage(query);
        const data = itemsOn(page, comments).map(toCommentResource);
        return { document: toPaginatedDocument(head, { data, page, totalCount: comments.length }) };
      },
    }),
    endpoint({
      method: 'POST',
      path: COMMENTS,
      summary: 'Comment on a run',
      answers: one('comments'),
      body: { schema: CREATE },
      success: 201,
      handle: async ({ principal, params, body }) => {
        const text = body.data.attributes.body;
        const comment = await createComment(context, principal, params.run_id, text);
        return { document: { data: toCommentResource(comment) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/comments/:comment_id',
      summary: 'Show a comment',
      answers: one('comments'),
      handle: async ({ principal, params }) => {
        const comment = await requireComment(store, principal, params.comment_id);
        return { document: { data: toCommentResource(comment) } };
      },
    }),
  ]);
};
