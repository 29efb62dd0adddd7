import { API_PREFIX, type Resource, toTimestamp } from '@keelson/jsonapi';
import { toAssessmentId } from '../model/domain/assessment.ts';
import type { Run } from '../model/domain/run.ts';

/** @param run an assessment that has a result */
export const toAssessmentResource = (run: Run): Resource => {
  const succeeded = run.status === 'planned_and_finished';
  const self = `${API_PREFIX}/assessment-results/${toAssessmentId(run.id)}`;
  return {
    id: toAssessmentId(run.id),
    type: 'assessment-results',
    attributes: {
      drifted: succeeded && (run.planned?.hasChanges ?? false),
      succeeded,
      'error-msg': succeeded ? null : 'The assessment ended with an error; its log says why.',
      'created-at': toTimestamp(run.statusTimesMs[run.status] ?? run.createdAtMs),
    },
    links: {
      self,
      'json-output': `${self}/json-output`,
      'json-schema': `${self}/json-schema`,
      'log-output': `${self}/log-output`,
    },
  };
};
