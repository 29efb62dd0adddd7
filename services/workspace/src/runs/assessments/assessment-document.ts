import {
  API_PREFIX,
  orNull,
  type ResourceOf,
  resourceSchema,
  timestamp,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import { toAssessmentId } from '../model/domain/assessment.ts';
import type { Run } from '../model/domain/run.ts';

export const ASSESSMENT_RESULT = resourceSchema({
  type: 'assessment-results',
  description: 'The result of a health assessment.',
  attributes: {
    drifted: Type.Boolean({ description: 'Whether something differs from the state.' }),
    succeeded: Type.Boolean(),
    'error-msg': orNull(Type.String()),
    'created-at': timestamp(),
  },
  links: ['self', 'json-output', 'json-schema', 'log-output'],
});

/** @param run an assessment that has a result */
export const toAssessmentResource = (run: Run): ResourceOf<typeof ASSESSMENT_RESULT> => {
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
