/** The capabilities of a token on paths, for `sys/capabilities*`. */
import type { Namespace } from '@keelson/proto/edge/v1/edge';
import { contains } from '../namespaces/domain/namespace-table.ts';
import {
  CAPABILITY_BITS,
  type Capability,
  toCapabilityNames,
} from '../policies/domain/capabilities.ts';
import { ROOT_POLICY } from '../policies/domain/default-policy.ts';
import type { PolicyIndex, RightsHolder } from '../policies/policy-index.ts';

/** A token, by its namespace and its rights. */
export interface Subject {
  readonly namespace: Namespace;
  /** Undefined for a token that is refused. */
  readonly rights: RightsHolder | undefined;
}

/** Sorted capabilities of a token on a path of `namespace`; `deny` when it has none. */
export const capabilitiesOf = (
  index: PolicyIndex,
  { namespace: home, rights }: Subject,
  namespace: Namespace,
  path: string,
): readonly (Capability | 'root')[] => {
  if (rights === undefined || !contains(home, namespace)) return ['deny'];
  if (rights.policies.includes(ROOT_POLICY)) return ['root'];
  const below = namespace.path.slice(home.path.length);
  const acl = index.aclOf(rights);
  const granted = acl.capabilitiesOn(below + path.replace(/^\/+/, ''));
  return toCapabilityNames((granted & CAPABILITY_BITS.deny) === 0 ? granted : CAPABILITY_BITS.deny);
};
