/**
 * Where runs execute. Workspace, project and organization each may hold a value; the nearest one
 * that has its own is the effective one.
 */
import { attributeViolation, type Violation } from '../../validation/domain/violation.ts';

export const EXECUTION_MODES = ['remote', 'local', 'agent'] as const;
export type ExecutionMode = (typeof EXECUTION_MODES)[number];

export interface Execution {
  readonly mode: ExecutionMode;
  /** Set exactly when the mode is `agent`. */
  readonly agentPoolId: string | null;
}

export const decideEffectiveExecution = (
  workspace: Execution | null,
  project: Execution | null,
  organization: Execution,
): Execution => workspace ?? project ?? organization;

/** What a request says about execution; absent is undefined. */
export interface GivenExecution {
  readonly mode?: ExecutionMode | null | undefined;
  readonly agentPoolId?: string | null | undefined;
  /** Deprecated: true is `remote`, false is `local`. */
  readonly operations?: boolean | undefined;
  readonly overwrites?:
    | {
        readonly executionMode?: boolean | null | undefined;
        readonly agentPool?: boolean | null | undefined;
      }
    | null
    | undefined;
}

/** Names of the attributes in pointers; an organization says `default-execution-mode`. */
export interface ExecutionAttributeNames {
  readonly mode: string;
  readonly agentPool: string;
  /** Keys of `setting-overwrites`. */
  readonly overwrite: string;
  readonly poolOverwrite: string;
}

export const WORKSPACE_EXECUTION_NAMES: ExecutionAttributeNames = {
  mode: 'execution-mode',
  agentPool: 'agent-pool-id',
  overwrite: 'execution-mode',
  poolOverwrite: 'agent-pool',
};

export const DEFAULT_EXECUTION_NAMES: ExecutionAttributeNames = {
  mode: 'default-execution-mode',
  agentPool: 'default-agent-pool-id',
  overwrite: 'default-execution-mode',
  poolOverwrite: 'default-agent-pool',
};

/** Both keys of `setting-overwrites` are one switch; undefined where neither is given. */
const decideIsOwn = (overwrites: GivenExecution['overwrites']): boolean | undefined =>
  overwrites?.executionMode ?? overwrites?.agentPool ?? undefined;

/** The combinations that are refused. `current` is undefined on creation, null when inherited. */
export const checkExecution = (
  given: GivenExecution,
  current: Execution | null | undefined,
  names: ExecutionAttributeNames,
): readonly Violation[] => {
  const violations: Violation[] = [];
  const { mode, operations, overwrites } = given;
  const isOwn = decideIsOwn(overwrites);
  // Clients send an empty pool id for "none".
  const pool = given.agentPoolId === '' ? null : given.agentPoolId;
  if (operations !== undefined && mode != null) {
    violations.push(
      attributeViolation(
        'operations',
        'operations is deprecated and cannot be specified when execution mode is used',
      ),
    );
  }
  if (isOwn === true && mode == null) {
    const overwrite = overwrites?.executionMode == null ? names.poolOverwrite : names.overwrite;
    violations.push(
      attributeViolation(
        `setting-overwrites/${overwrite}`,
        `${names.mode} must be given when setting-overwrites.${overwrite} is true`,
      ),
    );
  }
  if (
    overwrites?.executionMode != null &&
    overwrites.agentPool != null &&
    overwrites.executionMode !== overwrites.agentPool
  ) {
    violations.push(
      attributeViolation(
        'setting-overwrites',
        'If agent-pool and execution-mode are both included in setting-overwrites, their values must be the same.',
      ),
    );
  }
  const next = mode ?? (operations === undefined ? current?.mode : toMode(operations));
  const nextPool = pool === undefined ? current?.agentPoolId : pool;
  if (pool != null && (operations === true || next !== 'agent')) {
    violations.push(
      attributeViolation(
        names.agentPool,
        "agent pool must not be specified unless using 'agent' execution mode",
      ),
    );
  } else if (next === 'agent' && nextPool == null && isOwn !== false) {
    violations.push(
      attributeViolation(
        names.agentPool,
        "agent pool must be specified when using 'agent' execution mode",
      ),
    );
  }
  return violations;
};

const toMode = (operations: boolean): ExecutionMode => (operations ? 'remote' : 'local');

/** The value of its own that a workspace or project has after a request; null inherits. */
export const decideOwnExecution = (
  given: GivenExecution,
  current: Execution | null,
): Execution | null => {
  if (decideIsOwn(given.overwrites) === false) return null;
  const mode =
    given.mode ?? (given.operations === undefined ? current?.mode : toMode(given.operations));
  if (mode === undefined) return null;
  const pool = given.agentPoolId === undefined ? current?.agentPoolId : given.agentPoolId;
  return { mode, agentPoolId: mode === 'agent' ? (pool ?? null) : null };
};
