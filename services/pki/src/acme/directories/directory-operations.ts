/** Opens directories: decides whether a directory is served and under which policy it issues. */
import type { Store } from '@keelson/storage';
import type { Authority } from '../../issuers/domain/authority.ts';
import type { Authorities } from '../../issuers/issuer-records.ts';
import type { Role } from '../../roles/domain/role.ts';
import { findRole } from '../../roles/role-operations.ts';
import type { AcmeConfigs } from '../config/acme-config-operations.ts';
import { type AcmeConfig, allowsAll, parseDefaultPolicy } from '../config/domain/acme-config.ts';
import { AcmeProblem, malformed } from '../problems/problem.ts';
import { type DirectoryPath, type DirectoryUrls, directoryUrls } from './domain/directory.ts';
import type { DirectoryMount, PolicyOffer } from './domain/directory-mount.ts';
import { VERBATIM_ROLE } from './domain/verbatim-role.ts';

export interface DirectoryParts {
  readonly store: Store;
  readonly authorities: Authorities;
  readonly configs: AcmeConfigs;
  readonly policy: PolicyOffer;
}

/** The role or external policy that decides about a certificate. */
export type Issuance =
  | {
      readonly kind: 'role';
      /** "" allows every proven name. */
      readonly roleName: string;
      readonly role: Role;
      readonly issuerRef: string;
    }
  | {
      readonly kind: 'external-policy';
      readonly policyName: string;
      readonly issuerRef: string | undefined;
    };

export interface OpenDirectory {
  readonly mount: DirectoryMount;
  readonly config: AcmeConfig;
  readonly authority: Authority;
  readonly urls: DirectoryUrls;
  /** Path relative to the mount; accounts and bindings belong to it. */
  readonly path: string;
  readonly issuance: Issuance;
  /** Roles that an order may choose by name instead (docs/acme.md). */
  readonly profiles: readonly string[];
}

/** No directory is served at this path; the response gives no reason. */
export class NotServed extends Error {}

const refuse = (detail: string): never => {
  throw new AcmeProblem('unauthorized', detail);
};

/** @throws AcmeProblem for an unknown issuer, or one that `allowed_issuers` excludes */
const checkNamedIssuer = (
  authority: Authority,
  { allowedIssuers }: AcmeConfig,
  reference: string,
): void => {
  const issuer = authority.findIssuer(reference);
  if (issuer === undefined) throw malformed(`there is no issuer "${reference}"`, { status: 404 });
  const isAllowed =
    allowsAll(allowedIssuers) ||
    allowedIssuers.some((allowed) => authority.findIssuer(allowed) === issuer);
  if (!isAllowed) refuse(`issuer "${reference}" is not in allowed_issuers`);
};

/**
 * The role of this name, if ACME may issue under it. @throws AcmeProblem
 */
export const requireAcmeRole = async (
  { store }: Pick<DirectoryParts, 'store'>,
  mount: DirectoryMount,
  { allowedRoles, allowRoleExtKeyUsage }: AcmeConfig,
  name: string,
): Promise<Role> => {
  const role = await findRole(store, mount, name);
  if (role === undefined) throw malformed(`there is no role "${name}"`, { status: 404 });
  if (!allowsAll(allowedRoles) && !allowedRoles.includes(name))
    refuse(`role "${name}" is not in allowed_roles`);
  if (role.noStore) refuse(`role "${name}" has no_store set, which ACME cannot use`);
  return allowRoleExtKeyUsage ? role : forServersOnly(role);
};

/** Roles restricted to server authentication, by the original role. */
const serversOnly = new WeakMap<Role, Role>();

/** Reference §7.7: only server authentication, regardless of the role. */
const forServersOnly = (role: Role): Role => {
  const known = serversOnly.get(role);
  if (known !== undefined) return known;
  const made = {
    ...role,
    serverFlag: true,
    clientFlag: false,
    codeSigningFlag: false,
    emailProtectionFlag: false,
    extKeyUsage: [],
    extKeyUsageOids: [],
  };
  serversOnly.set(role, made);
  return made;
};

const decideIssuance = async (
  parts: DirectoryParts,
  mount: DirectoryMount,
  config: AcmeConfig,
  path: DirectoryPath,
): Promise<Issuance> => {
  const { issuerRef } = path;
  const underRole = async (roleName: string): Promise<Issuance> => {
    const role = await requireAcmeRole(parts, mount, config, roleName);
    return { kind: 'role', roleName, role, issuerRef: issuerRef ?? role.issuerRef };
  };
  if (path.isExternal) return { kind: 'external-policy', policyName: path.policy, issuerRef };
  if (path.role !== undefined) return underRole(path.role);
  const policy = parseDefaultPolicy(config.defaultDirectoryPolicy);
  switch (policy.kind) {
    case 'forbid':
      throw new NotServed();
    case 'role':
      return underRole(policy.role);
    case 'external-policy':
      return { kind: 'external-policy', policyName: policy.policy, issuerRef };
    case 'sign-verbatim':
      return {
        kind: 'role',
        roleName: '',
        role: VERBATIM_ROLE,
        issuerRef: issuerRef ?? 'default',
      };
  }
};

/** Roles that orders in this directory may name; none if `allowed_roles` is `*`. */
const profilesOf = (path: DirectoryPath, config: AcmeConfig): readonly string[] =>
  path.isExternal || path.role !== undefined || allowsAll(config.allowedRoles)
    ? []
    : config.allowedRoles;

/**
 * The directory at a path under the current configuration. @throws NotServed while ACME is
 * disabled, the cluster has no path, or the policy forbids this directory @throws AcmeProblem for a
 * role or issuer that is unknown or not allowed
 */
export const openDirectory = async (
  parts: DirectoryParts,
  mount: DirectoryMount,
  path: DirectoryPath,
): Promise<OpenDirectory> => {
  const config = await parts.configs.of(mount);
  if (!config.enabled) throw new NotServed();
  const authority = await parts.authorities.of(mount);
  const clusterPath = authority.settings.cluster.path;
  if (clusterPath === '') throw new NotServed();
  if (path.issuerRef !== undefined) checkNamedIssuer(authority, config, path.issuerRef);
  const issuance = await decideIssuance(parts, mount, config, path);
  if (issuance.kind === 'external-policy' && !(await parts.policy.isOffered(mount)))
    throw new NotServed();
  return {
    mount,
    config,
    authority,
    urls: directoryUrls(clusterPath, path.path),
    path: path.path,
    issuance,
    profiles: profilesOf(path, config),
  };
};
