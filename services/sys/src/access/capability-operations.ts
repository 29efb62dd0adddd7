/** The capabilities of a token on paths, for `sys/capabilities*`. */
import type { Namespace } from '@keelson/proto/edge/v1/edge';
import { contains } from '../namespaces/domain/namespace-table.ts';
import {
  CAPABILITY_BITS,
  type Capability,
  toCapabilityNames,
} from '../policies/domain/capabilities.ts';
import { ROOT_POLICY } from '../policies/domain/default-policy.ts';
import type { PolicyIndex } from '../policies/policy-index.ts';
import type { TokenEntry } from '../tokens/domain/token-entry.ts';

type Subject = Pick<TokenEntry, 'namespace' | 'policies'>;

/** Sorted capabilities of a token on a path of `namespace`; `deny` when it has none. */
export const capabilitiesOf = (
  index: PolicyIndex,
  token: Subject,
  namespace: Namespace,
  path: string,
): readonly (Capability | 'root')[] => {
  if (!contains(token.namespace, namespace)) return ['deny'];
  if (token.policies.includes(ROOT_POLICY)) return ['root'];
  const below = namespace.path.slice(token.namespace.path.length);
  const acl = index.aclFor(token.namespace.id, token.policies);
  const granted = acl.capabilitiesOn(below + path.replace(/^\/+/, ''));
  return toCapabilityNames((granted & CAPABILITY_BITS.deny) === 0 ? granted : CAPABILITY_BITS.deny);
};
