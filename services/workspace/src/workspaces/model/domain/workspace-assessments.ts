import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** The first release of the tool that can plan without proposing changes. */
export const FIRST_ASSESSING_RELEASE = '0.15.4';

/** Summary of a workspace's health assessments, maintained by the runs module. */
export const workspaceAssessmentsShape = Type.Object({
  newest: Type.Object({ atMs: Type.Number(), isOver: Type.Boolean() }),
  /** The newest assessment that has a result; null before the first. */
  result: nullable(Type.Object({ runId: Type.String(), atMs: Type.Number() })),
});
export type WorkspaceAssessments = Shaped<typeof workspaceAssessmentsShape>;
