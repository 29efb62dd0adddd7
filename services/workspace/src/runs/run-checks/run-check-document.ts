import { type ResourceSchema, relatedOne, resourceSchema } from '@keelson/jsonapi';
import { Type } from 'typebox';

const relationships = { run: relatedOne('runs') };

const TASK_STAGE = resourceSchema({
  type: 'task-stages',
  description: 'A point of a run at which run tasks are called.',
  attributes: { stage: Type.String(), status: Type.String() },
  relationships,
});

const POLICY_CHECK = resourceSchema({
  type: 'policy-checks',
  description: 'A check of a plan by Sentinel policies.',
  attributes: { scope: Type.String(), status: Type.String() },
  relationships,
});

const POLICY_EVALUATION = resourceSchema({
  type: 'policy-evaluations',
  description: 'A check of a plan by the policies of one kind.',
  attributes: { 'policy-kind': Type.String(), status: Type.String() },
  relationships,
});

/** Checks of a run that other products have; a run has none of them here. */
export const RUN_CHECKS: readonly ResourceSchema[] = [TASK_STAGE, POLICY_CHECK, POLICY_EVALUATION];
