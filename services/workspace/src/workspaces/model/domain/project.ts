import type { Execution } from '../../../base/execution/domain/execution.ts';
import type { TagBinding } from './tag-binding.ts';

export interface Project {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly description: string;
  readonly autoDestroyActivityDuration: string | null;
  /** null inherits from the organization. */
  readonly ownExecution: Execution | null;
  readonly tagBindings: readonly TagBinding[];
  readonly createdAtMs: number;
}

export const DEFAULT_PROJECT_NAME = 'Default Project';

/** 3 to 40 letters, digits, spaces, `-`, `_`; no space at either end. */
export const isProjectName = (name: string): boolean =>
  /^[A-Za-z0-9_-][A-Za-z0-9 _-]{1,38}[A-Za-z0-9_-]$/.test(name);
