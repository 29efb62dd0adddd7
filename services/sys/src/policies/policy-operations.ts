import { KeelsonError } from '@keelson/errors';
import { parseDurationSeconds } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import {
  DEFAULT_POLICY,
  DEFAULT_POLICY_TEXT,
  INTERNAL_POLICIES,
  RESPONSE_WRAPPING_POLICY,
  RESPONSE_WRAPPING_POLICY_TEXT,
  ROOT_POLICY,
} from './domain/default-policy.ts';
import { parsePolicyText } from './domain/policy-text.ts';
import { policyKey, policyRecords } from './policy-records.ts';

export interface PolicyContext {
  readonly store: Store;
}

const MAX_NAME_LENGTH = 256;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const isBuiltIn = (name: string): boolean =>
  name === ROOT_POLICY || INTERNAL_POLICIES.includes(name);

/** The name in lower case; slashes are refused because they would nest the record's path. */
const requireName = (given: string): string => {
  const name = given.trim().toLowerCase();
  if (name === '') refuse("'name' parameter not supplied or empty");
  if (name.length > MAX_NAME_LENGTH || /[\p{Cc}/]/u.test(name)) refuse('invalid policy name');
  return name;
};

/** Text of a policy; undefined when there is none. `default` has a text before it is first written. */
export const findPolicyText = async (
  { store }: PolicyContext,
  namespaceId: string,
  givenName: string,
): Promise<string | undefined> => {
  const name = givenName.toLowerCase();
  if (name === ROOT_POLICY) return namespaceId === 'root' ? '' : undefined;
  if (name === RESPONSE_WRAPPING_POLICY) return RESPONSE_WRAPPING_POLICY_TEXT;
  const record = await policyRecords.find(store, policyKey(namespaceId, name));
  return record?.text ?? (name === DEFAULT_POLICY ? DEFAULT_POLICY_TEXT : undefined);
};

/** Sorted. Internal policies are not listed, and `root` only in the root namespace. */
export const listPolicies = async (
  { store }: PolicyContext,
  namespaceId: string,
): Promise<string[]> => {
  const written = await store.list(policyRecords.path(`${namespaceId}/`));
  const names = new Set([...written, DEFAULT_POLICY]);
  return [...[...names].sort(), ...(namespaceId === 'root' ? [ROOT_POLICY] : [])];
};

/** The given names that belong to no existing policy. */
export const findMissingPolicies = async (
  { store }: PolicyContext,
  namespaceId: string,
  names: readonly string[],
): Promise<string[]> => {
  const written = await store.list(policyRecords.path(`${namespaceId}/`));
  const known = new Set([...written, DEFAULT_POLICY, ROOT_POLICY, RESPONSE_WRAPPING_POLICY]);
  return names.filter((name) => !known.has(name));
};

/** The text as given, or decoded from base64, which older clients send. */
const readPolicyText = (given: string): string => {
  try {
    parsePolicyText(given, parseDurationSeconds);
    return given;
  } catch (error) {
    if (!/^[A-Za-z0-9+/\s]+={0,2}$/.test(given)) throw error;
    const text = Buffer.from(given, 'base64').toString();
    try {
      parsePolicyText(text, parseDurationSeconds);
    } catch {
      // The text was not base64 either, so the error of the given text is the helpful one.
      throw error;
    }
    return text;
  }
};

/** @throws KeelsonError `request.invalid`, `sys.policy_unparsable` */
export const writePolicy = async (
  { store }: PolicyContext,
  namespaceId: string,
  givenName: string,
  given: string,
): Promise<void> => {
  const name = requireName(givenName);
  if (isBuiltIn(name)) refuse(`cannot update "${name}" policy`);
  if (given.trim() === '') refuse("'policy' parameter not supplied or empty");
  const text = readPolicyText(given);
  await store.transact((tx) => policyRecords.write(tx, policyKey(namespaceId, name), { text }));
};

/** @throws KeelsonError `request.invalid` for a policy that cannot be deleted */
export const deletePolicy = async (
  { store }: PolicyContext,
  namespaceId: string,
  givenName: string,
): Promise<void> => {
  const name = requireName(givenName);
  if (name === DEFAULT_POLICY) refuse('cannot delete default policy');
  if (isBuiltIn(name)) refuse(`cannot delete "${name}" policy`);
  await store.transact((tx) => policyRecords.delete(tx, policyKey(namespaceId, name)));
};
