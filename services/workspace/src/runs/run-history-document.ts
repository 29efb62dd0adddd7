import { API_PREFIX, type Resource, toOne, toTimestamp } from '@keelson/jsonapi';
import type { Run, RunStatus } from './domain/run.ts';
import type { RunComment } from './domain/run-comment.ts';

export const toCommentResource = (comment: RunComment): Resource => ({
  id: comment.id,
  type: 'comments',
  attributes: { body: comment.body, 'created-at': toTimestamp(comment.createdAtMs) },
  relationships: {
    'run-event': toOne('run-events', comment.event && toEventId(comment.runId, comment.event)),
    'created-by': toOne('users', comment.createdById),
  },
  links: { self: `${API_PREFIX}/comments/${comment.id}` },
});

const toEventId = (runId: string, status: RunStatus): string =>
  `${runId.replace('run-', 're-')}-${status.replaceAll('_', '-')}`;

/** Who brought a run to a status, as far as that was a user. */
export const actorOf = (run: Run, status: RunStatus): string | null =>
  (status === 'pending' ? run.createdById : run.actorIds?.[status]) ?? null;

/** Statuses that a run has had, oldest first. */
export const listStatuses = ({ statusTimesMs }: Run): readonly RunStatus[] =>
  (Object.keys(statusTimesMs) as RunStatus[]).sort(
    (a, b) => (statusTimesMs[a] ?? 0) - (statusTimesMs[b] ?? 0),
  );

/** What happened to a run, oldest first; told from the times of its statuses. */
export const toRunEventResources = (
  run: Run,
  comments: readonly RunComment[],
): readonly Resource[] =>
  listStatuses(run).map((status) => {
    const comment = comments.findLast(({ event }) => event === status);
    return {
      id: toEventId(run.id, status),
      type: 'run-events',
      attributes: {
        action: status === 'pending' ? 'queued' : status,
        description: null,
        'created-at': toTimestamp(run.statusTimesMs[status] ?? 0),
      },
      relationships: {
        actor: toOne('users', actorOf(run, status)),
        comment: toOne('comments', comment?.id ?? null),
      },
    };
  });
