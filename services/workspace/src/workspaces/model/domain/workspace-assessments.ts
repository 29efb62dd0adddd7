/** The first release of the tool that can plan without proposing changes. */
export const FIRST_ASSESSING_RELEASE = '0.15.4';

/** Summary of a workspace's health assessments, maintained by the runs module. */
export interface WorkspaceAssessments {
  readonly newest: { readonly atMs: number; readonly isOver: boolean };
  /** The newest assessment that has a result; null before the first. */
  readonly result: { readonly runId: string; readonly atMs: number } | null;
}
