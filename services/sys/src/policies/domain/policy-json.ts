/** JSON text of a policy to the same entries as HCL. */
import { KeelsonError } from '@keelson/errors';
import { MAX_POLICY_DEPTH, type PolicyBlock, type PolicyValue } from './policy-tree.ts';

const fail = (reason: string): never => {
  throw new KeelsonError('sys.policy_unparsable', { reason });
};

const toValue = (value: unknown, depth: number): PolicyValue => {
  if (depth > MAX_POLICY_DEPTH) return fail(`nested deeper than ${MAX_POLICY_DEPTH} levels`);
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return value;
  }
  if (Array.isArray(value)) return value.map((item) => toValue(item, depth + 1));
  if (typeof value === 'object' && value !== null) return toBlock(value, depth);
  return fail('null is not a value of a policy');
};

const toBlock = (object: object, depth: number): PolicyBlock => ({
  entries: Object.entries(object).map(([key, value]) => ({
    keys: [key],
    value: toValue(value, depth + 1),
    line: 0,
  })),
});

/** @throws KeelsonError `sys.policy_unparsable` */
export const parseJsonDocument = (text: string): PolicyBlock => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new KeelsonError('sys.policy_unparsable', { reason: 'invalid JSON' }, { cause });
  }
  return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
    ? toBlock(parsed, 1)
    : fail('a JSON policy is an object');
};
