import {
  API_PREFIX,
  choice,
  dictionary,
  flags,
  orNull,
  type ResourceOf,
  relatedMany,
  relatedOne,
  resourceSchema,
  timestamp,
  toMany,
  toOne,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import { RUN_STATUSES, type RunStatus } from '../../base/run-status.ts';
import { toStatusTimestamps } from '../../base/status-timestamps.ts';
import type { WorkspacePermissions } from '../../workspaces/access/domain/workspace-permissions.ts';
import {
  type ChangeCounts,
  forceCancelAtMs,
  isCancelable,
  isConfirmable,
  isDiscardable,
  isFinal,
  isForceCancelable,
  type Run,
} from '../model/domain/run.ts';
import type { RunComment } from '../model/domain/run-comment.ts';
import { toPhaseId } from '../model/run-records.ts';
import { listRunEvents } from './run-history-document.ts';

export const RUN = resourceSchema({
  type: 'runs',
  attributes: {
    status: choice(RUN_STATUSES),
    'position-in-queue': Type.Optional(
      Type.Integer({ description: 'Shown in the queue of the organization alone.' }),
    ),
    'status-timestamps': dictionary(timestamp(), {
      description: 'When the run came to each status: `planned-at` and so on.',
    }),
    message: Type.String(),
    source: Type.String({ description: 'Client that queued the run, such as `tfe-api`.' }),
    'created-at': timestamp(),
    'is-destroy': Type.Boolean(),
    refresh: Type.Boolean(),
    'refresh-only': Type.Boolean(),
    'auto-apply': Type.Boolean(),
    'plan-only': Type.Boolean(),
    'save-plan': Type.Boolean(),
    'allow-empty-apply': Type.Boolean(),
    'target-addrs': Type.Array(Type.String()),
    'replace-addrs': Type.Array(Type.String()),
    variables: Type.Array(
      Type.Object({
        key: Type.String(),
        value: Type.String({ description: 'An expression of the configuration language.' }),
      }),
    ),
    'runtime-version': Type.String({ description: 'A release or a constraint.' }),
    'terraform-version': Type.String({ description: 'The same as `runtime-version`.' }),
    'has-changes': Type.Boolean({ description: 'False also before the plan has finished.' }),
    'canceled-at': orNull(timestamp('When the cancellation was requested.')),
    'force-cancel-available-at': orNull(timestamp()),
    actions: flags(['is-cancelable', 'is-confirmable', 'is-discardable', 'is-force-cancelable'], {
      description: 'Actions that the status allows.',
    }),
    permissions: flags(
      [
        'can-apply',
        'can-cancel',
        'can-comment',
        'can-discard',
        'can-force-cancel',
        'can-force-execute',
        'can-override-policy-check',
      ],
      { description: 'Permissions of the caller.' },
    ),
  },
  relationships: {
    workspace: relatedOne('workspaces'),
    'configuration-version': relatedOne('configuration-versions'),
    plan: relatedOne('plans'),
    apply: relatedOne('applies'),
    'created-by': relatedOne('users'),
    'confirmed-by': relatedOne('users'),
    'canceled-by': relatedOne('users'),
    'run-events': relatedMany('run-events', 'linked'),
    comments: relatedMany('comments', 'linked'),
  },
  links: ['self'],
});

const PHASE_STATUSES = [
  'pending',
  'queued',
  'running',
  'finished',
  'errored',
  'canceled',
  'unreachable',
] as const;
type PhaseStatus = (typeof PHASE_STATUSES)[number];

const changeCount = orNull(Type.Integer({ description: 'Null before the phase has finished.' }));

/** Attributes of both phases. */
const PHASE = {
  status: choice(PHASE_STATUSES),
  'resource-additions': changeCount,
  'resource-changes': changeCount,
  'resource-destructions': changeCount,
  'resource-imports': changeCount,
  'status-timestamps': Type.Object({
    'started-at': Type.Optional(timestamp()),
    'finished-at': Type.Optional(timestamp()),
    'errored-at': Type.Optional(timestamp()),
    'canceled-at': Type.Optional(timestamp()),
  }),
  'execution-details': orNull(
    Type.Object(
      {
        mode: choice(['remote', 'agent']),
        'agent-id': Type.Optional(Type.String()),
        'agent-pool-id': Type.Optional(Type.String()),
      },
      { description: 'Null before the phase has been claimed.' },
    ),
  ),
  'log-read-url': Type.String({ description: 'Signed.' }),
};

export const PLAN = resourceSchema({
  type: 'plans',
  attributes: {
    ...PHASE,
    'has-changes': Type.Boolean({ description: 'False also before the plan has finished.' }),
  },
  links: ['self', 'json-output', 'json-output-redacted'],
});

export const APPLY = resourceSchema({
  type: 'applies',
  attributes: PHASE,
  relationships: { 'state-versions': relatedMany('state-versions') },
  links: ['self'],
});

/** A run can be planned as soon as it exists. */
const toStatusTimes = ({ createdAtMs, statusTimesMs }: Run): Readonly<Record<string, string>> =>
  toStatusTimestamps({ ...statusTimesMs, plan_queueable: createdAtMs });

/** @param comments on the run, oldest first */
export const toRunResource = (
  run: Run,
  comments: readonly RunComment[],
  permissions: Pick<WorkspacePermissions, 'canQueueRun' | 'canQueueApply' | 'canUpdate'>,
  positionInQueue?: number,
): ResourceOf<typeof RUN> => {
  const forceAtMs = forceCancelAtMs(run);
  return {
    id: run.id,
    type: 'runs',
    attributes: {
      status: run.status,
      ...(positionInQueue === undefined ? {} : { 'position-in-queue': positionInQueue }),
      'status-timestamps': toStatusTimes(run),
      message: run.message,
      source: run.source,
      'created-at': toTimestamp(run.createdAtMs),
      'is-destroy': run.isDestroy,
      refresh: run.refresh,
      'refresh-only': run.refreshOnly,
      'auto-apply': run.autoApply,
      'plan-only': run.planOnly,
      'save-plan': run.savePlan,
      'allow-empty-apply': run.allowEmptyApply,
      'target-addrs': run.targetAddrs,
      'replace-addrs': run.replaceAddrs,
      variables: run.variables,
      'runtime-version': run.terraformVersion,
      'terraform-version': run.terraformVersion,
      'has-changes': run.planned?.hasChanges ?? false,
      'canceled-at': run.cancelRequestedAtMs === null ? null : toTimestamp(run.cancelRequestedAtMs),
      'force-cancel-available-at': forceAtMs === null ? null : toTimestamp(forceAtMs),
      actions: {
        'is-cancelable': isCancelable(run),
        'is-confirmable': isConfirmable(run.status),
        'is-discardable': isDiscardable(run.status),
        'is-force-cancelable': isForceCancelable(run),
      },
      permissions: {
        'can-apply': permissions.canQueueApply,
        'can-cancel': permissions.canQueueApply,
        'can-comment': permissions.canQueueRun,
        'can-discard': permissions.canQueueApply,
        'can-force-cancel': permissions.canUpdate,
        'can-force-execute': permissions.canUpdate,
        'can-override-policy-check': false,
      },
    },
    relationships: {
      workspace: toOne('workspaces', run.workspaceId),
      'configuration-version': toOne('configuration-versions', run.configurationVersionId),
      plan: toOne('plans', toPhaseId(run.id, 'plan')),
      apply: toOne('applies', run.planOnly ? null : toPhaseId(run.id, 'apply')),
      'created-by': toOne('users', run.createdById),
      'confirmed-by': toOne('users', run.actorIds?.confirmed ?? null),
      'canceled-by': toOne('users', run.actorIds?.canceled ?? run.actorIds?.force_canceled ?? null),
      'run-events': toMany(
        'run-events',
        listRunEvents(run, comments).map(({ id }) => id),
        `${API_PREFIX}/runs/${run.id}/run-events`,
      ),
      comments: toMany(
        'comments',
        comments.map(({ id }) => id),
        `${API_PREFIX}/runs/${run.id}/comments`,
      ),
    },
    links: { self: `${API_PREFIX}/runs/${run.id}` },
  };
};

const PLAN_ENDS: readonly RunStatus[] = [
  'planned',
  'planned_and_saved',
  'planned_and_finished',
  'confirmed',
  'applying',
  'applied',
];

/** The status of a phase when the run ended before the phase finished. */
const endedEarly = ({ status }: Run): PhaseStatus =>
  status === 'errored' ? 'errored' : 'canceled';

const planStatus = (run: Run): PhaseStatus => {
  if (run.planned !== null || PLAN_ENDS.includes(run.status)) return 'finished';
  if (run.status === 'planning') return 'running';
  return run.status === 'pending' ? 'pending' : endedEarly(run);
};

const applyStatus = (run: Run): PhaseStatus => {
  if (run.status === 'applied') return 'finished';
  if (run.status === 'applying') return 'running';
  if (run.status === 'confirmed') return 'queued';
  const { applying, confirmed } = run.statusTimesMs;
  // The run errored before an agent claimed it, because no agent would have.
  if (applying !== undefined || (confirmed !== undefined && run.status === 'errored')) {
    return endedEarly(run);
  }
  return ['pending', 'planning', 'planned', 'planned_and_saved'].includes(run.status)
    ? 'pending'
    : 'unreachable';
};

/** Statuses of a run after the end of the phase. */
const PLAN_ENDED: readonly RunStatus[] = [
  'planned',
  'planned_and_saved',
  'planned_and_finished',
  'confirmed',
];
const APPLY_ENDED: readonly RunStatus[] = ['applied'];

const toPhaseTimes = (
  { status, statusTimesMs }: Run,
  started: 'planning' | 'applying',
  ended: readonly RunStatus[],
): Record<string, string> => {
  const startedAtMs = statusTimesMs[started];
  const endedAtMs = ended.map((name) => statusTimesMs[name]).find((atMs) => atMs !== undefined);
  // A run that ended without finishing a phase ended in its last phase: the apply, or else the plan.
  const isLast = started === 'applying' || statusTimesMs.applying === undefined;
  const brokenOffAtMs =
    endedAtMs === undefined && startedAtMs !== undefined && isLast && isFinal(status)
      ? statusTimesMs[status]
      : undefined;
  return {
    ...(startedAtMs === undefined ? {} : { 'started-at': toTimestamp(startedAtMs) }),
    ...(endedAtMs === undefined ? {} : { 'finished-at': toTimestamp(endedAtMs) }),
    ...(brokenOffAtMs === undefined
      ? {}
      : {
          [status === 'errored' ? 'errored-at' : 'canceled-at']: toTimestamp(brokenOffAtMs),
        }),
  };
};

const toCounts = (counts: ChangeCounts | null) => ({
  'resource-additions': counts?.additions ?? null,
  'resource-changes': counts?.changes ?? null,
  'resource-destructions': counts?.destructions ?? null,
  'resource-imports': counts?.imports ?? null,
});

const toExecutionDetails = ({ agentId, agentPoolId }: Run) => {
  if (agentId === null) return null;
  // The agents of the built-in runner are not shown to anyone.
  if (agentPoolId === null) return { mode: 'remote' } as const;
  return { mode: 'agent', 'agent-id': agentId, 'agent-pool-id': agentPoolId } as const;
};

const toExecution = (run: Run) => ({ 'execution-details': toExecutionDetails(run) });

/** @param logReadUrl absolute URL for reading the log */
export const toPlanResource = (run: Run, logReadUrl: string): ResourceOf<typeof PLAN> => ({
  id: toPhaseId(run.id, 'plan'),
  type: 'plans',
  attributes: {
    status: planStatus(run),
    'has-changes': run.planned?.hasChanges ?? false,
    ...toCounts(run.planned),
    'status-timestamps': toPhaseTimes(run, 'planning', PLAN_ENDED),
    ...toExecution(run),
    'log-read-url': logReadUrl,
  },
  links: {
    self: `${API_PREFIX}/plans/${toPhaseId(run.id, 'plan')}`,
    'json-output': `${API_PREFIX}/plans/${toPhaseId(run.id, 'plan')}/json-output`,
    'json-output-redacted': `${API_PREFIX}/plans/${toPhaseId(run.id, 'plan')}/json-output-redacted`,
  },
});

export const toApplyResource = (
  run: Run,
  logReadUrl: string,
  permissions: Pick<WorkspacePermissions, 'canReadStateVersions'>,
): ResourceOf<typeof APPLY> => ({
  id: toPhaseId(run.id, 'apply'),
  type: 'applies',
  attributes: {
    status: applyStatus(run),
    ...toCounts(run.applied),
    'status-timestamps': toPhaseTimes(run, 'applying', APPLY_ENDED),
    ...toExecution(run),
    'log-read-url': logReadUrl,
  },
  relationships: {
    'state-versions': toMany(
      'state-versions',
      permissions.canReadStateVersions ? run.stateVersionIds : [],
    ),
  },
  links: { self: `${API_PREFIX}/applies/${toPhaseId(run.id, 'apply')}` },
});

export const ORGANIZATION_CAPACITY = resourceSchema({
  type: 'organization-capacity',
  attributes: {
    pending: Type.Integer({ description: 'Runs that wait for an agent.' }),
    running: Type.Integer({ description: 'Runs that have one.' }),
  },
});
