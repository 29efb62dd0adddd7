/** Errors lose their class on the way between threads; those of ours are made again from what they say. */
import { type ErrorCode, type ErrorParams, KeelsonError } from '@keelson/errors';

export type Refusal =
  | { readonly code: ErrorCode; readonly params: ErrorParams }
  | { readonly thrown: unknown };

export const toRefusal = (thrown: unknown): Refusal =>
  thrown instanceof KeelsonError ? { code: thrown.code, params: thrown.params } : { thrown };

export const toThrown = (refusal: Refusal): unknown =>
  'code' in refusal ? new KeelsonError(refusal.code, refusal.params) : refusal.thrown;
