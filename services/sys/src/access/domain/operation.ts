/** Maps an HTTP method to the operation that policies name. */
import { CAPABILITY_BITS, type CapabilitySet } from '../../policies/domain/capabilities.ts';

export type Operation = 'read' | 'list' | 'create' | 'update' | 'patch' | 'delete';

const OPERATIONS: Readonly<Record<string, Operation>> = {
  GET: 'read',
  HEAD: 'read',
  LIST: 'list',
  POST: 'update',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
  OPTIONS: 'read',
};

export const operationOf = (method: string): Operation | undefined =>
  Object.hasOwn(OPERATIONS, method) ? OPERATIONS[method] : undefined;

export const capabilityFor = (operation: Operation): CapabilitySet => CAPABILITY_BITS[operation];

/** Operations whose parameters are checked against policy rules. */
export const hasJudgedParameters = (operation: Operation): boolean =>
  operation !== 'list' && operation !== 'delete';
