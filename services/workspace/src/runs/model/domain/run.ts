/**
 * A run: one plan of a workspace's configuration and, once confirmed, its apply. Agents execute the two
 * phases and report the results; people confirm, discard and cancel the run.
 */

import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { RUN_STATUSES, type RunStatus, runStatusShape } from '../../../base/run-status.ts';

const FINAL: ReadonlySet<RunStatus> = new Set([
  'planned_and_finished',
  'applied',
  'discarded',
  'errored',
  'canceled',
  'force_canceled',
]);
export const isFinal = (status: RunStatus): boolean => FINAL.has(status);

/** Statuses of runs that have not ended. */
export const OPEN_STATUSES: readonly RunStatus[] = RUN_STATUSES.filter(
  (status) => !isFinal(status),
);

export const isDiscardable = (status: RunStatus): boolean =>
  status === 'pending' || status === 'planned' || status === 'planned_and_saved';

export const isConfirmable = (status: RunStatus): boolean =>
  status === 'planned' || status === 'planned_and_saved';

export const isExecuting = (status: RunStatus): boolean =>
  status === 'planning' || status === 'applying';

/** Statuses in which the run waits for an agent. */
export const isWaiting = (status: RunStatus): boolean =>
  status === 'pending' || status === 'confirmed';

/** Time between a request to cancel and the permission to cancel by force. */
const FORCE_CANCEL_AFTER_MS = 60_000;

/** Resource changes of a phase, as counted by the tool. */
export const changeCountsShape = Type.Object({
  additions: Type.Number(),
  changes: Type.Number(),
  destructions: Type.Number(),
  imports: Type.Number(),
});
export type ChangeCounts = Shaped<typeof changeCountsShape>;

export const forcedUnlockShape = Type.Object({
  atMs: Type.Number(),
  by: Type.Object({
    kind: Type.Enum(['user', 'team', 'organization']),
    /** `user-…`, `team-…`, or the name of the organization. */
    id: Type.String(),
  }),
});
export type ForcedUnlock = Shaped<typeof forcedUnlockShape>;

export const runShape = Type.Object({
  /** `run-…`. */
  id: Type.String(),
  /** Number within the workspace, from 1. It defines the order, also within one millisecond. */
  number: Type.Number(),
  /** Order among the runs of all workspaces. */
  order: Type.Optional(Type.Number()),
  organizationId: Type.String(),
  workspaceId: Type.String(),
  configurationVersionId: Type.String(),
  status: runStatusShape,
  statusTimesMs: Type.Partial(Type.Record(runStatusShape, Type.Number())),
  message: Type.String(),
  source: Type.String(),
  isDestroy: Type.Boolean(),
  refresh: Type.Boolean(),
  refreshOnly: Type.Boolean(),
  autoApply: Type.Boolean(),
  planOnly: Type.Boolean(),
  savePlan: Type.Boolean(),
  allowEmptyApply: Type.Boolean(),
  targetAddrs: Type.Array(Type.String()),
  replaceAddrs: Type.Array(Type.String()),
  variables: Type.Array(Type.Object({ key: Type.String(), value: Type.String() })),
  terraformVersion: Type.String(),
  /** null before the plan has finished. */
  planned: nullable(Type.Object({ ...changeCountsShape.properties, hasChanges: Type.Boolean() })),
  applied: nullable(changeCountsShape),
  cancelRequestedAtMs: nullable(Type.Number()),
  /** Pool of the agent that runs or last ran it. Null while `agentId` is set means the built-in runner. */
  agentPoolId: nullable(Type.String()),
  /** `agent-…` that runs or last ran it. */
  agentId: nullable(Type.String()),
  /** Ids (`sv-…`) of the states that its apply wrote, oldest first. */
  stateVersionIds: Type.Array(Type.String()),
  /** `user-…`, null for a team or the service itself. */
  createdById: nullable(Type.String()),
  /** `at-…` with which the run was requested; null for a run that no request asked for. */
  requestedWith: nullable(Type.String()),
  /** Why the run waits for a confirmation although it was to be applied automatically; absent for others. */
  waitsBecause: Type.Optional(Type.String()),
  /** Times at which the lock that the run held was removed by force; absent before the first. */
  forcedUnlocks: Type.Optional(Type.Array(forcedUnlockShape)),
  /** `user-…` who brought the run to each status, if a user did; absent before the first. */
  actorIds: Type.Optional(Type.Partial(Type.Record(runStatusShape, Type.String()))),
  /** The commit that started the run and whose status follows it; absent for other runs. */
  commitSha: Type.Optional(Type.String()),
  createdAtMs: Type.Number(),
});
export type Run = Shaped<typeof runShape>;

/** An action of a person. */
interface ByUser {
  /** `user-…`. */
  readonly userId?: string | undefined;
}

/** An event in the life of a run. */
export type RunEvent =
  | { readonly kind: 'start_plan' }
  | {
      readonly kind: 'plan_finished';
      readonly counts: ChangeCounts;
      readonly hasChanges: boolean;
      /** Why the run may not be applied automatically any more; undefined if it may. */
      readonly waitsBecause?: string | undefined;
    }
  | ({ readonly kind: 'confirm' } & ByUser)
  | { readonly kind: 'start_apply' }
  | { readonly kind: 'apply_finished'; readonly counts: ChangeCounts }
  | { readonly kind: 'fail' }
  | ({ readonly kind: 'cancel' } & ByUser)
  | { readonly kind: 'canceled' }
  | ({ readonly kind: 'force_cancel' } & ByUser)
  | ({ readonly kind: 'discard' } & ByUser);

type PlanFinished = Extract<RunEvent, { readonly kind: 'plan_finished' }>;

const statusAfterPlan = (run: Run, { hasChanges, waitsBecause }: PlanFinished): RunStatus => {
  // The plan finished before the agent saw the request to cancel. The run ends here.
  if (run.cancelRequestedAtMs !== null) return 'canceled';
  if (run.planOnly || (!hasChanges && !run.allowEmptyApply)) return 'planned_and_finished';
  if (run.savePlan) return 'planned_and_saved';
  return run.autoApply && waitsBecause === undefined ? 'confirmed' : 'planned';
};

/** Time from which the run may be cancelled by force; null when no cancellation was requested. */
export const forceCancelAtMs = ({ cancelRequestedAtMs }: Run): number | null =>
  cancelRequestedAtMs === null ? null : cancelRequestedAtMs + FORCE_CANCEL_AFTER_MS;

/**
 * The agent was asked to stop and has not stopped yet; after `forceCancelAtMs` the run may be cancelled by
 * force.
 */
export const isForceCancelable = ({ status, cancelRequestedAtMs }: Run): boolean =>
  cancelRequestedAtMs !== null && isExecuting(status);

export const isCancelable = (run: Run): boolean =>
  isWaiting(run.status) || (isExecuting(run.status) && run.cancelRequestedAtMs === null);

const decideStatus = (run: Run, event: RunEvent, nowMs: number): RunStatus | undefined => {
  const { status } = run;
  const when = (holds: boolean, next: RunStatus) => (holds ? next : undefined);
  switch (event.kind) {
    case 'start_plan':
      return when(status === 'pending', 'planning');
    case 'plan_finished':
      return when(status === 'planning', statusAfterPlan(run, event));
    case 'confirm':
      return when(isConfirmable(status), 'confirmed');
    case 'start_apply':
      return when(status === 'confirmed', 'applying');
    case 'apply_finished':
      return when(status === 'applying', 'applied');
    case 'fail':
      return when(isWaiting(status) || isExecuting(status), 'errored');
    case 'cancel':
      // An active agent is asked to stop, and reports when it has stopped.
      return when(isCancelable(run), isExecuting(status) ? status : 'canceled');
    case 'canceled':
      return when(isExecuting(status) && run.cancelRequestedAtMs !== null, 'canceled');
    case 'force_cancel': {
      const availableAtMs = forceCancelAtMs(run) ?? nowMs;
      return when(isForceCancelable(run) && availableAtMs <= nowMs, 'force_canceled');
    }
    case 'discard':
      return when(isDiscardable(status), 'discarded');
  }
};

/** The status to which a user's action leads, immediately or once the agent has stopped. */
export const STATUS_AFTER = {
  confirm: 'confirmed',
  cancel: 'canceled',
  force_cancel: 'force_canceled',
  discard: 'discarded',
} as const satisfies Partial<Record<RunEvent['kind'], RunStatus>>;

const withActor = ({ actorIds }: Run, event: RunEvent): Run['actorIds'] =>
  'userId' in event && event.userId !== undefined
    ? { ...actorIds, [STATUS_AFTER[event.kind]]: event.userId }
    : actorIds;

/** A run that waits for a confirmation will not be applied automatically, and says why. */
const withWaiting = (event: RunEvent, status: RunStatus): Partial<Run> =>
  event.kind === 'plan_finished' && event.waitsBecause !== undefined && status === 'planned'
    ? { autoApply: false, waitsBecause: event.waitsBecause }
    : {};

/** The run after an event; undefined when the event is not allowed in its status. */
export const nextRun = (run: Run, event: RunEvent, nowMs: number): Run | undefined => {
  const status = decideStatus(run, event, nowMs);
  if (status === undefined) return undefined;
  const actorIds = withActor(run, event);
  return {
    ...run,
    ...(actorIds && { actorIds }),
    ...withWaiting(event, status),
    status,
    statusTimesMs:
      status === run.status ? run.statusTimesMs : { ...run.statusTimesMs, [status]: nowMs },
    planned:
      event.kind === 'plan_finished' && status !== 'canceled'
        ? { ...event.counts, hasChanges: event.hasChanges }
        : run.planned,
    applied: event.kind === 'apply_finished' ? event.counts : run.applied,
    cancelRequestedAtMs: event.kind === 'cancel' ? nowMs : run.cancelRequestedAtMs,
  };
};

/** Plan-only runs do not need the lock; runs that save their plan need it once they are confirmed. */
export const needsLock = (run: Run): boolean =>
  !run.planOnly && (!run.savePlan || run.status === 'confirmed' || run.status === 'applying');

export const RUN_OPERATIONS = [
  'plan_only',
  'plan_and_apply',
  'save_plan',
  'refresh_only',
  'destroy',
  'empty_apply',
  'assess',
] as const;
type RunOperation = (typeof RUN_OPERATIONS)[number];

/** Source of runs that destroy a workspace at its time. */
export const AUTO_DESTROY_SOURCE = 'auto-destroy' as const;

/** Source of runs that the apply of another workspace queues. */
export const RUN_TRIGGER_SOURCE = 'tfe-run-trigger' as const;

/** Source of runs that are health assessments. */
export const ASSESSMENT_SOURCE = 'assessment' as const;

/** Source of runs that a commit or an upload queues. */
export const CONFIGURATION_SOURCE = 'tfe-configuration-version' as const;

/** The sources of runs: clients, which identify themselves in headers, and Keelson itself. */
export const RUN_SOURCES = [
  'tfe-api',
  'terraform',
  'terraform+cloud',
  CONFIGURATION_SOURCE,
  RUN_TRIGGER_SOURCE,
  AUTO_DESTROY_SOURCE,
  ASSESSMENT_SOURCE,
] as const;

export const isAssessment = ({ source }: Pick<Run, 'source'>): boolean =>
  source === ASSESSMENT_SOURCE;

/** Lists show these only on request. */
export const UNLISTED_OPERATIONS: readonly string[] = [
  'plan_only',
  'assess',
] satisfies readonly RunOperation[];

export const toOperation = (run: Run): RunOperation => {
  if (isAssessment(run)) return 'assess';
  if (run.planOnly) return 'plan_only';
  if (run.savePlan) return 'save_plan';
  if (run.refreshOnly) return 'refresh_only';
  if (run.isDestroy) return 'destroy';
  return run.allowEmptyApply ? 'empty_apply' : 'plan_and_apply';
};

export const STATUS_GROUPS: ReadonlyMap<string, (status: RunStatus) => boolean> = new Map([
  ['non_final', (status: RunStatus) => !isFinal(status)],
  ['final', isFinal],
  ['discardable', isDiscardable],
]);
