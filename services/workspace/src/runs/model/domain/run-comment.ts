import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { runStatusShape } from '../../../base/run-status.ts';

/** A person's comment on a run, made alone or together with an action. */
export const runCommentShape = Type.Object({
  /** `wsc-…`. */
  id: Type.String(),
  runId: Type.String(),
  body: Type.String(),
  /** Status to which the accompanying action leads; null for a comment made alone. */
  event: nullable(runStatusShape),
  /** `user-…`, null for a team. */
  createdById: nullable(Type.String()),
  createdAtMs: Type.Number(),
});
export type RunComment = Shaped<typeof runCommentShape>;

/** Longest comment, in characters. */
export const MAX_COMMENT_LENGTH = 65_536;
