/**
 * The execution settings of runs. Workspace, project and organization may each hold a value; the nearest one
 * that is set takes effect.
 */

import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { attributeViolation, type Violation } from '../../validation/domain/violation.ts';

export const EXECUTION_MODES = ['remote', 'local', 'agent'] as const;
export const executionModeShape = Type.Enum(EXECUTION_MODES);
export type ExecutionMode = Shaped<typeof executionModeShape>;

export const executionShape = Type.Object({
  mode: executionModeShape,
  /** Set exactly when the mode is `agent`. */
  agentPoolId: nullable(Type.String()),
});
export type Execution = Shaped<typeof executionShape>;

export const decideEffectiveExecution = (
  workspace: Execution | null,
  project: Execution | null,
  organization: Execution,
): Execution => workspace ?? project ?? organization;

/** Execution settings of a request; absent is undefined. */
export interface ExecutionInput {
  readonly mode?: ExecutionMode | null | undefined;
  readonly agentPoolId?: string | null | undefined;
  /** Deprecated: true means `remote`, false means `local`. */
  readonly operations?: boolean | undefined;
  readonly overwrites?:
    | {
        readonly executionMode?: boolean | null | undefined;
        readonly agentPool?: boolean | null | undefined;
      }
    | null
    | undefined;
}

/** Attribute names for error pointers; an organization uses `default-execution-mode`. */
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

/** `setting-overwrites` has two keys for one switch; undefined when neither is given. */
const decideIsOwn = (overwrites: ExecutionInput['overwrites']): boolean | undefined =>
  overwrites?.executionMode ?? overwrites?.agentPool ?? undefined;

const toMode = (operations: boolean): ExecutionMode => (operations ? 'remote' : 'local');

/**
 * A warning where a request says "inherited" and gives another value than the inherited one, which is not stored then.
 * Public clients send the mode that they read before the default of the project or organization changed.
 * @param effective the value after the request
 */
export const warnOfInherited = (
  { mode, operations, agentPoolId, overwrites }: ExecutionInput,
  effective: Execution,
  names: ExecutionAttributeNames,
): readonly string[] => {
  if (decideIsOwn(overwrites) !== false) return [];
  const isRepeated =
    (mode ?? effective.mode) === effective.mode &&
    (operations === undefined || toMode(operations) === effective.mode) &&
    (agentPoolId || effective.agentPoolId) === effective.agentPoolId;
  if (isRepeated) return [];
  const overwrite = overwrites?.executionMode == null ? names.poolOverwrite : names.overwrite;
  return [
    `${names.mode} and ${names.agentPool} are inherited, because setting-overwrites.${overwrite} is false: the given value was not stored`,
  ];
};

/** Checks which combinations are allowed. `current` is undefined on creation, null when inherited. */
export const checkExecution = (
  given: ExecutionInput,
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
  // An inherited value is checked where it is set.
  if (isOwn === false) return violations;
  const next = mode ?? (operations === undefined ? current?.mode : toMode(operations));
  const nextPool = pool === undefined ? current?.agentPoolId : pool;
  if (pool != null && (operations === true || next !== 'agent')) {
    violations.push(
      attributeViolation(
        names.agentPool,
        "agent pool must not be specified unless using 'agent' execution mode",
      ),
    );
  } else if (next === 'agent' && nextPool == null) {
    violations.push(
      attributeViolation(
        names.agentPool,
        "agent pool must be specified when using 'agent' execution mode",
      ),
    );
  }
  return violations;
};

/** The value that a workspace or project itself holds after a request; null means inherited. */
export const decideOwnExecution = (
  given: ExecutionInput,
  current: Execution | null,
): Execution | null => {
  if (decideIsOwn(given.overwrites) === false) return null;
  const mode =
    given.mode ?? (given.operations === undefined ? current?.mode : toMode(given.operations));
  if (mode === undefined) return null;
  const pool = given.agentPoolId === undefined ? current?.agentPoolId : given.agentPoolId;
  return { mode, agentPoolId: mode === 'agent' ? (pool ?? null) : null };
};
