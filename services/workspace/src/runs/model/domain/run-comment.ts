import type { RunStatus } from '../../../base/run-status.ts';

/** A person's comment on a run, made alone or together with an action. */
export interface RunComment {
  /** `wsc-…`. */
  readonly id: string;
  readonly runId: string;
  readonly body: string;
  /** Status to which the accompanying action leads; null for a comment made alone. */
  readonly event: RunStatus | null;
  /** `user-…`, null for a team. */
  readonly createdById: string | null;
  readonly createdAtMs: number;
}

/** Longest comment, in characters. */
export const MAX_COMMENT_LENGTH = 65_536;
