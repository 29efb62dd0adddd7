/** The newest health assessment of a workspace, as its documents show it. */
import { API_PREFIX, orNull, relatedOne, timestamp, toOne, toTimestamp } from '@keelson/jsonapi';
import { workspaceContribution } from '../../workspaces/seams/workspace-contributions.ts';
import { toAssessmentId } from '../model/domain/assessment.ts';
import { toAssessmentResource } from './assessment-document.ts';
import { findCurrentAssessment } from './assessment-operations.ts';

export const WORKSPACE_ASSESSMENT_CONTRIBUTION = workspaceContribution({
  schema: {
    attributes: { 'last-assessment-result-at': orNull(timestamp()) },
    relationships: { 'current-assessment-result': relatedOne('assessment-results', 'linked') },
  },
  attributes: ({ assessments }) => {
    const result = assessments?.result ?? null;
    return { 'last-assessment-result-at': result && toTimestamp(result.atMs) };
  },
  relationships: ({ workspace, assessments }) => {
    const result = assessments?.result ?? null;
    return {
      'current-assessment-result': toOne(
        'assessment-results',
        result && toAssessmentId(result.runId),
        `${API_PREFIX}/workspaces/${workspace.id}/current-assessment-result`,
      ),
    };
  },
  includes: {
    current_assessment_result: {
      types: ['assessment-results'],
      prepare:
        ({ context }) =>
        async ({ workspace }) => {
          const run = await findCurrentAssessment(context.store, workspace);
          return run === undefined ? [] : [toAssessmentResource(run)];
        },
    },
  },
});
