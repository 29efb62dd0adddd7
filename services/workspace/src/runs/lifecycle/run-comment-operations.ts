import { KeelsonError } from '@keelson/errors';
import { newResourceId } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, readableOnly, type Transaction } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import type { RunComment } from '../model/domain/run-comment.ts';
import { runComments } from '../model/run-records.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import { loadRunAccess, requireRun } from './run-operations.ts';

/** Maximum number of comments on one run. */
const MAX_COMMENTS = 1000;

type CommentInput = Pick<RunComment, 'runId' | 'body' | 'event' | 'createdAtMs'>;

/** @throws KeelsonError `workspace.conflict` when the run has too many */
export const addComment = async (
  tx: Transaction,
  principal: Principal,
  given: CommentInput,
): Promise<RunComment> => {
  const count = (await runComments.keys(tx, [given.runId])).length;
  if (count >= MAX_COMMENTS) {
    throw new KeelsonError('workspace.conflict', {
      text: `a run has at most ${MAX_COMMENTS} comments`,
    });
  }
  const comment: RunComment = {
    ...given,
    id: newResourceId('wsc'),
    createdById: principal.kind === 'user' ? principal.id : null,
  };
  const number = String(count + 1).padStart(6, '0');
  await runComments.write(tx, [given.runId, number], comment);
  return comment;
};

/** Comments on a run that can be read, oldest first. */
export const loadComments = async (reads: Reads, runId: string): Promise<readonly RunComment[]> => {
  const numbers = await runComments.keys(reads, [runId]);
  const found = await Promise.all(
    numbers.map((number) => runComments.find(readableOnly(reads), runId, number)),
  );
  return found.filter((comment) => comment !== undefined);
};

/** Adds a comment; requires the permission to queue runs. */
export const createComment = (
  { store, clock }: RunsContext,
  principal: Principal,
  runId: string,
  body: string,
): Promise<RunComment> =>
  store.transact(async (tx) => {
    await loadRunAccess(tx, principal, runId, 'canQueueRun');
    return addComment(tx, principal, { runId, body, event: null, createdAtMs: clock.nowMs() });
  });

/** @throws KeelsonError `workspace.not_found` also when the caller may not read the run */
export const requireComment = async (
  reads: Reads,
  principal: Principal,
  commentId: string,
): Promise<RunComment> => {
  const [comment] = await runComments.by.id.records(reads, commentId);
  if (comment === undefined) throw notFound('comment');
  await requireRun(reads, principal, comment.runId);
  return comment;
};
