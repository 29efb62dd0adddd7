import { KeelsonError } from '@keelson/errors';

/** The error for absent resources and for those that the caller may not see: both look the same. */
export const notFound = (resource: string): KeelsonError =>
  new KeelsonError('workspace.not_found', { resource });
