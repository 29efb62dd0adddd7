import type { RunStatus } from './run.ts';

/** What somebody said about a run, by itself or with an action. */
export interface RunComment {
  /** `wsc-…`. */
  readonly id: string;
  readonly runId: string;
  readonly body: string;
  /** Status that the action leads to which it came with; null: it came by itself. */
  readonly event: RunStatus | null;
  /** `user-…`, null for a team. */
  readonly createdById: string | null;
  readonly createdAtMs: number;
}

/** Longest comment, in characters. */
export const MAX_COMMENT_LENGTH = 65_536;
