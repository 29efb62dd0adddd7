/** Wire shapes of the console's requests before it knows the rights of the user. */
import { type MountRecord, mountPathOf } from '../mounts/domain/mount.ts';
import { mountDocument } from '../mounts/mount-document.ts';
import { toCapabilityNames } from '../policies/domain/capabilities.ts';
import type { ParameterLists } from '../policies/domain/parameter-rules.ts';
import type { PolicyRule } from '../policies/domain/policy-rule.ts';
import type { ResultantAcl, VisibleMount } from './internal-ui-operations.ts';

/** The members that everyone sees of a mount that is listed without authentication. */
const publicDocument = ({ type, description, options }: MountRecord) => ({
  type,
  description,
  options: Object.keys(options).length === 0 ? null : options,
});

/** The mounts of one table by path, complete where the caller's policies reach them. */
export const visibleMountsDocument = (visible: readonly VisibleMount[]) =>
  Object.fromEntries(
    visible.map(({ mount, isReached }) => [
      mount.path,
      isReached ? mountDocument(mount) : publicDocument(mount),
    ]),
  );

/** One mount, with its path among the mounts of both tables. */
export const servingMountDocument = (mount: MountRecord) => ({
  ...mountDocument(mount),
  path: mountPathOf(mount),
});

/** The mounts whose operations the gateway describes. */
export const specificationDocument = (
  visible: readonly VisibleMount[],
  genericMountPaths: boolean,
) => ({
  generic_mount_paths: genericMountPaths,
  mounts: visible.map(({ mount }) => ({ path: mountPathOf(mount), type: mount.type })),
});

const lists = (given: ParameterLists | undefined): Record<string, unknown> | undefined =>
  given === undefined || given.size === 0 ? undefined : Object.fromEntries(given);

/** JSON.stringify omits members without a value. */
const ruleDocument = ({ capabilities, parameters, ...limits }: PolicyRule) => ({
  capabilities: toCapabilityNames(capabilities),
  min_wrapping_ttl: limits.minWrappingTtlSeconds || undefined,
  max_wrapping_ttl: limits.maxWrappingTtlSeconds || undefined,
  allowed_parameters: lists(parameters.allowed),
  denied_parameters: lists(parameters.denied),
  required_parameters: parameters.required.size === 0 ? undefined : [...parameters.required],
});

/**
 * The combined rights of all policies of a token, by path relative to the root namespace, as exact paths and
 * as prefixes. `+` stays as written. A root token has no paths.
 */
export const resultantAclDocument = (resultant: ResultantAcl | undefined) => {
  if (resultant === undefined) return { root: true };
  const { acl, namespacePath } = resultant;
  const ofKind = (isPrefix: boolean) =>
    Object.fromEntries(
      acl.rules
        .filter(({ pattern }) => pattern.isPrefix === isPrefix)
        .map((rule) => [namespacePath + rule.pattern.stem, ruleDocument(rule)]),
    );
  return { root: false, exact_paths: ofKind(false), glob_paths: ofKind(true) };
};
