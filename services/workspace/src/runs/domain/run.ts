/**
 * A run: one plan of a workspace's configuration and, when it is confirmed, its apply. An agent takes
 * each of the two phases and reports how it ended; people confirm, discard and cancel in between.
 */
export const RUN_STATUSES = [
  'pending',
  'planning',
  'planned',
  'planned_and_saved',
  'planned_and_finished',
  'confirmed',
  'applying',
  'applied',
  'discarded',
  'errored',
  'canceled',
  'force_canceled',
] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

const FINAL: ReadonlySet<RunStatus> = new Set([
  'planned_and_finished',
  'applied',
  'discarded',
  'errored',
  'canceled',
  'force_canceled',
]);
export const isFinal = (status: RunStatus): boolean => FINAL.has(status);

export const isDiscardable = (status: RunStatus): boolean =>
  status === 'pending' || status === 'planned' || status === 'planned_and_saved';

export const isConfirmable = (status: RunStatus): boolean =>
  status === 'planned' || status === 'planned_and_saved';

export const isExecuting = (status: RunStatus): boolean =>
  status === 'planning' || status === 'applying';

/** For an agent. */
export const isWaiting = (status: RunStatus): boolean =>
  status === 'pending' || status === 'confirmed';

/** Time between the wish to cancel and the right to give up on the agent. */
const FORCE_CANCEL_AFTER_MS = 60_000;

/** What a phase changes, as the tool counts it. */
export interface ChangeCounts {
  readonly additions: number;
  readonly changes: number;
  readonly destructions: number;
  readonly imports: number;
}

export interface ForcedUnlock {
  readonly atMs: number;
  readonly by: {
    readonly kind: 'user' | 'team' | 'organization';
    /** `user-…`, `team-…`, or the name of the organization. */
    readonly id: string;
  };
}

export interface Run {
  /** `run-…`. */
  readonly id: string;
  /** Counts the runs of the workspace from 1: their order, also within one millisecond. */
  readonly number: number;
  /** Its place among the runs of all workspaces; absent in those of earlier releases. */
  readonly order?: number;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly configurationVersionId: string;
  readonly status: RunStatus;
  readonly statusTimesMs: { readonly [S in RunStatus]?: number };
  readonly message: string;
  readonly source: string;
  readonly isDestroy: boolean;
  readonly refresh: boolean;
  readonly refreshOnly: boolean;
  readonly autoApply: boolean;
  readonly planOnly: boolean;
  readonly savePlan: boolean;
  readonly allowEmptyApply: boolean;
  readonly targetAddrs: readonly string[];
  readonly replaceAddrs: readonly string[];
  readonly variables: readonly { readonly key: string; readonly value: string }[];
  readonly terraformVersion: string;
  /** null until it is planned. */
  readonly planned: (ChangeCounts & { readonly hasChanges: boolean }) | null;
  readonly applied: ChangeCounts | null;
  readonly cancelRequestedAtMs: number | null;
  /** The pool whose agent has it, or had it last. */
  readonly agentPoolId: string | null;
  /** `agent-…` that has it, or had it last. */
  readonly agentId: string | null;
  /** `sv-…` that its apply wrote, oldest first. */
  readonly stateVersionIds: readonly string[];
  /** `user-…`, null for a team or the service itself. */
  readonly createdById: string | null;
  /** The times at which somebody took the workspace's lock away from the run; absent before the first. */
  readonly forcedUnlocks?: readonly ForcedUnlock[];
  /** `user-…` who brought the run to a status, where a user did; absent before the first. */
  readonly actorIds?: { readonly [S in RunStatus]?: string };
  readonly createdAtMs: number;
}

/** A person's part in what happens. */
interface ByUser {
  /** `user-…`. */
  readonly userId?: string | undefined;
}

/** What happens to a run; undefined where it may not happen in this status. */
export type RunEvent =
  | { readonly kind: 'start_plan' }
  | {
      readonly kind: 'plan_finished';
      readonly counts: ChangeCounts;
      readonly hasChanges: boolean;
    }
  | ({ readonly kind: 'confirm' } & ByUser)
  | { readonly kind: 'start_apply' }
  | { readonly kind: 'apply_finished'; readonly counts: ChangeCounts }
  | { readonly kind: 'fail' }
  | ({ readonly kind: 'cancel' } & ByUser)
  | { readonly kind: 'canceled' }
  | ({ readonly kind: 'force_cancel' } & ByUser)
  | ({ readonly kind: 'discard' } & ByUser);

const statusAfterPlan = (run: Run, hasChanges: boolean): RunStatus => {
  // The plan was done before its agent heard that it was to stop: nothing follows it.
  if (run.cancelRequestedAtMs !== null) return 'canceled';
  if (run.planOnly || (!hasChanges && !run.allowEmptyApply)) return 'planned_and_finished';
  if (run.savePlan) return 'planned_and_saved';
  return run.autoApply ? 'confirmed' : 'planned';
};

/** From when on an agent that does not stop may be given up; null: the run was not to be canceled. */
export const forceCancelAtMs = ({ cancelRequestedAtMs }: Run): number | null =>
  cancelRequestedAtMs === null ? null : cancelRequestedAtMs + FORCE_CANCEL_AFTER_MS;

/** Its agent was asked to stop and works on; it can be given up from `forceCancelAtMs` on. */
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
      return when(status === 'planning', statusAfterPlan(run, event.hasChanges));
    case 'confirm':
      return when(isConfirmable(status), 'confirmed');
    case 'start_apply':
      return when(status === 'confirmed', 'applying');
    case 'apply_finished':
      return when(status === 'applying', 'applied');
    case 'fail':
      return when(isWaiting(status) || isExecuting(status), 'errored');
    case 'cancel':
      // An agent at work is asked to stop, and reports when it has.
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

/** The status that an action of a person leads to, at once or when the agent has stopped. */
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

/** The run after an event, or undefined where the event may not happen. */
export const nextRun = (run: Run, event: RunEvent, nowMs: number): Run | undefined => {
  const status = decideStatus(run, event, nowMs);
  if (status === undefined) return undefined;
  const actorIds = withActor(run, event);
  return {
    ...run,
    ...(actorIds && { actorIds }),
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

/** Plans that can never be applied, and saved ones until they are confirmed, leave the lock alone. */
export const needsLock = (run: Run): boolean =>
  !run.planOnly && (!run.savePlan || run.status === 'confirmed' || run.status === 'applying');

type RunOperation =
  | 'plan_only'
  | 'plan_and_apply'
  | 'save_plan'
  | 'refresh_only'
  | 'destroy'
  | 'empty_apply'
  | 'assess';

/** Source of runs that are health assessments. */
export const ASSESSMENT_SOURCE = 'assessment';

export const isAssessment = ({ source }: Pick<Run, 'source'>): boolean =>
  source === ASSESSMENT_SOURCE;

/** Lists show them only when they are asked for. */
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

export const STATUS_GROUPS: Readonly<Record<string, (status: RunStatus) => boolean>> = {
  non_final: (status) => !isFinal(status),
  final: isFinal,
  discardable: isDiscardable,
};
