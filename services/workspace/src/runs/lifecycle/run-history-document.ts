import {
  API_PREFIX,
  orNull,
  type ResourceOf,
  relatedOne,
  resourceSchema,
  timestamp,
  toOne,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { RunStatus } from '../../base/run-status.ts';
import type { Run } from '../model/domain/run.ts';
import type { RunComment } from '../model/domain/run-comment.ts';

export const COMMENT = resourceSchema({
  type: 'comments',
  attributes: { body: Type.String(), 'created-at': timestamp() },
  relationships: { 'run-event': relatedOne('run-events'), 'created-by': relatedOne('users') },
  links: ['self'],
});

export const RUN_EVENT = resourceSchema({
  type: 'run-events',
  attributes: {
    action: Type.String({
      description: '`queued`, the status that the run came to, `commented` or `force_unlocked`.',
    }),
    description: orNull(Type.String()),
    'created-at': timestamp(),
  },
  relationships: { actor: relatedOne('users'), comment: relatedOne('comments') },
});

export const toCommentResource = (comment: RunComment): ResourceOf<typeof COMMENT> => ({
  id: comment.id,
  type: 'comments',
  attributes: { body: comment.body, 'created-at': toTimestamp(comment.createdAtMs) },
  relationships: {
    'run-event': toOne('run-events', commentEventIdOf(comment)),
    'created-by': toOne('users', comment.createdById),
  },
  links: { self: `${API_PREFIX}/comments/${comment.id}` },
});

const eventIdOf = (runId: string, what: string): string =>
  `${runId.replace('run-', 're-')}-${what.replaceAll('_', '-')}`;

/** The event that a comment accompanies; a comment made alone is an event itself. */
const commentEventIdOf = ({ id, runId, event }: RunComment): string =>
  eventIdOf(runId, event ?? `commented-${id.replace('wsc-', '')}`);

/** The run of an event. */
export const toRunIdOfEvent = (eventId: string): string =>
  eventId.split('-', 2).join('-').replace(/^re-/, 'run-');

/** Id of the user who brought a run to a status; null when it was not a user. */
const actorOf = (run: Run, status: RunStatus): string | null =>
  (status === 'pending' ? run.createdById : run.actorIds?.[status]) ?? null;

/** One thing that happened to a run. */
export interface RunEventFacts {
  /** `re-…`, which begins with the random part of the run's id. */
  readonly id: string;
  readonly action: string;
  readonly description: string | null;
  readonly atMs: number;
  /** `user-…`, null where it was no user. */
  readonly actorId: string | null;
  readonly comment: RunComment | null;
}

const FORCERS = { user: 'User', team: 'Team', organization: 'Organization' } as const;

/**
 * The history of a run, oldest first: its statuses with the comments made together with them, other comments,
 * and forced unlocks.
 */
export const listRunEvents = (
  run: Run,
  comments: readonly RunComment[],
): readonly RunEventFacts[] => {
  const statuses = Object.entries(run.statusTimesMs) as readonly (readonly [RunStatus, number])[];
  return [
    ...statuses.map(([status, atMs]) => ({
      id: eventIdOf(run.id, status),
      action: status === 'pending' ? 'queued' : status,
      description: status === 'planned' ? (run.waitsBecause ?? null) : null,
      atMs,
      actorId: actorOf(run, status),
      comment: comments.findLast(({ event }) => event === status) ?? null,
    })),
    ...comments
      .filter(({ event }) => event === null)
      .map((comment) => ({
        id: commentEventIdOf(comment),
        action: 'commented',
        description: null,
        atMs: comment.createdAtMs,
        actorId: comment.createdById,
        comment,
      })),
    ...(run.forcedUnlocks ?? []).map(({ atMs, by }, index) => ({
      id: eventIdOf(run.id, `force-unlocked-${index + 1}`),
      action: 'force_unlocked',
      description: `${FORCERS[by.kind]} ${by.id} took the lock of the workspace away`,
      atMs,
      actorId: by.kind === 'user' ? by.id : null,
      comment: null,
    })),
  ].sort((a, b) => a.atMs - b.atMs);
};

export const toRunEventResource = (event: RunEventFacts): ResourceOf<typeof RUN_EVENT> => ({
  id: event.id,
  type: 'run-events',
  attributes: {
    action: event.action,
    description: event.description,
    'created-at': toTimestamp(event.atMs),
  },
  relationships: {
    actor: toOne('users', event.actorId),
    comment: toOne('comments', event.comment?.id ?? null),
  },
});
