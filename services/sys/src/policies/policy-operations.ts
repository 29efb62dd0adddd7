import { parseDurationSeconds } from '@keelson/secrets-api';
import type { Reads, Store } from '@keelson/storage';
import {
  DEFAULT_POLICY,
  DEFAULT_POLICY_TEXT,
  RESPONSE_WRAPPING_POLICY,
  RESPONSE_WRAPPING_POLICY_TEXT,
  ROOT_POLICY,
} from './domain/default-policy.ts';
import {
  requireDeletableName,
  requirePolicyText,
  requireWritableName,
} from './domain/policy-draft.ts';
import type { PolicyIndex } from './policy-index.ts';
import { policyKey, policyRecords } from './policy-records.ts';

export interface PolicyContext {
  readonly store: Store;
  readonly policies: () => Promise<PolicyIndex>;
}

/** A policy; `name` is in lower case. */
export interface Policy {
  readonly name: string;
  readonly text: string;
}

/** Names of the policies of a namespace. */
export interface PolicyNames {
  readonly names: readonly string[];
  /** The names in `names` whose policies cannot be decrypted. */
  readonly damaged: readonly string[];
}

/** Undefined when there is none. `default` has a text before it is first written. */
export const findPolicy = async (
  { store }: PolicyContext,
  namespaceId: string,
  givenName: string,
): Promise<Policy | undefined> => {
  const name = givenName.toLowerCase();
  if (name === ROOT_POLICY) return namespaceId === 'root' ? { name, text: '' } : undefined;
  if (name === RESPONSE_WRAPPING_POLICY) return { name, text: RESPONSE_WRAPPING_POLICY_TEXT };
  const record = await policyRecords.find(store, policyKey(namespaceId, name));
  const text = record?.text ?? (name === DEFAULT_POLICY ? DEFAULT_POLICY_TEXT : undefined);
  return text === undefined ? undefined : { name, text };
};

/** Sorted. Internal policies are not listed, and `root` only in the root namespace. */
export const listPolicies = async (
  { store, policies }: PolicyContext,
  namespaceId: string,
): Promise<PolicyNames> => {
  const written = await store.list(policyRecords.path(`${namespaceId}/`));
  const builtIn = [DEFAULT_POLICY, ...(namespaceId === 'root' ? [ROOT_POLICY] : [])];
  const names = [...new Set([...written, ...builtIn])].sort();
  const index = await policies();
  return {
    names,
    damaged: names.filter((name) => index.damaged.has(policyKey(namespaceId, name))),
  };
};

/** The given names that belong to no existing policy. */
export const findMissingPolicies = async (
  reads: Reads,
  namespaceId: string,
  names: readonly string[],
): Promise<string[]> => {
  const written = await reads.list(policyRecords.path(`${namespaceId}/`));
  const known = new Set([...written, DEFAULT_POLICY, ROOT_POLICY, RESPONSE_WRAPPING_POLICY]);
  return names.filter((name) => !known.has(name));
};

/** @throws KeelsonError `request.invalid`, `sys.policy_unparsable` */
export const writePolicy = async (
  { store }: PolicyContext,
  namespaceId: string,
  givenName: string,
  given: string,
): Promise<void> => {
  const key = policyKey(namespaceId, requireWritableName(givenName));
  const text = requirePolicyText(given, parseDurationSeconds);
  await store.transact((tx) => policyRecords.write(tx, key, { text }));
};

/** @throws KeelsonError `request.invalid` for a policy that cannot be deleted */
export const deletePolicy = async (
  { store }: PolicyContext,
  namespaceId: string,
  givenName: string,
): Promise<void> => {
  const key = policyKey(namespaceId, requireDeletableName(givenName));
  await store.transact((tx) => policyRecords.delete(tx, key));
};
