import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { executionShape } from '../../../base/execution/domain/execution.ts';
import { tagBindingShape } from './tag-binding.ts';

export const projectShape = Type.Object({
  id: Type.String(),
  organizationId: Type.String(),
  name: Type.String(),
  description: Type.String(),
  autoDestroyActivityDuration: nullable(Type.String()),
  /** null inherits from the organization. */
  ownExecution: nullable(executionShape),
  tagBindings: Type.Array(tagBindingShape),
  createdAtMs: Type.Number(),
});
export type Project = Shaped<typeof projectShape>;

export const DEFAULT_PROJECT_NAME = 'Default Project';

/** 3 to 40 letters, digits, spaces, `-`, `_`; no space at either end. */
export const isProjectName = (name: string): boolean =>
  /^[A-Za-z0-9_-][A-Za-z0-9 _-]{1,38}[A-Za-z0-9_-]$/.test(name);
