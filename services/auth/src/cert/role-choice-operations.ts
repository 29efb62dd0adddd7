/** The role with which a certificate signs in, as of now. */
import type { MountScope } from '@keelson/engine';
import type { ClientAuthoritiesDefinition } from '@keelson/proto/pki/v1/client_authorities';
import type { RpcService } from '@keelson/rpc';
import type { Store } from '@keelson/storage';
import { type ParsedCertificate, parseCertificate } from '@keelson/x509';
import { toRoleName } from '../logins/role-name-operations.ts';
import { revocationListRecords, roleRecords } from './cert-records.ts';
import type { StatusCheck } from './certificate-status-operations.ts';
import type { CertRole, RevocationList } from './domain/cert-role.ts';
import {
  type ClientCertificate,
  findChain,
  isAmong,
  isRevokedBy,
} from './domain/client-certificate.ts';

export interface RoleChoiceParts {
  readonly store: Store;
  readonly clock: { nowMs(): number };
  /** Tells about mounts of this installation whose certificates sign in. */
  readonly pki: RpcService<typeof ClientAuthoritiesDefinition>;
  readonly isCurrent: StatusCheck;
}

/** A mount of the certificate authority, as of one login. */
interface OwnAuthority {
  readonly uuid: string;
  readonly issuers: readonly ParsedCertificate[];
  /** The certificates of the login that it has revoked. */
  readonly revoked: readonly ParsedCertificate[];
}

/** A login by a certificate, with what its roles are judged by. */
interface Attempt {
  readonly certificate: ClientCertificate;
  readonly authorities: readonly OwnAuthority[];
  readonly lists: readonly RevocationList[];
  readonly nowMs: number;
}

/** One question about the mounts of all roles, and none if they name no mount. */
const readAuthorities = async (
  { pki }: RoleChoiceParts,
  roles: readonly CertRole[],
  { parsed, intermediates }: ClientCertificate,
): Promise<readonly OwnAuthority[]> => {
  const mountUuids = [
    ...new Set(roles.flatMap(({ pkiMounts }) => pkiMounts.map(({ uuid }) => uuid))),
  ];
  if (mountUuids.length === 0) return [];
  const certificates = [parsed, ...intermediates];
  const { mounts } = await pki.readAuthorities({
    mountUuids,
    certificates: certificates.map(({ der }) => Buffer.from(der)),
  });
  return mounts.map(({ mountUuid, issuers, revoked }) => ({
    uuid: mountUuid,
    issuers: issuers.map((der) => parseCertificate(der)),
    revoked: certificates.filter((_, index) => revoked.includes(index)),
  }));
};

const openAttempt = async (
  parts: RoleChoiceParts,
  mount: MountScope,
  roles: readonly CertRole[],
  certificate: ClientCertificate,
): Promise<Attempt> => ({
  certificate,
  authorities: await readAuthorities(parts, roles, certificate),
  lists: (await revocationListRecords(mount).entries(parts.store)).map(([, list]) => list),
  nowMs: parts.clock.nowMs(),
});

/** The certificates that a login with a role depends on; undefined if one is revoked, or it is not one with the role. */
const findGoodChain = (
  role: CertRole,
  { certificate, authorities, lists, nowMs }: Attempt,
): readonly ParsedCertificate[] | undefined => {
  const own = authorities.filter(({ uuid }) => role.pkiMounts.some((named) => named.uuid === uuid));
  const issuers = own.flatMap((one) => one.issuers);
  const chain = findChain(role, issuers, certificate, nowMs);
  return chain === undefined ||
    lists.some((list) => isRevokedBy(list, chain)) ||
    own.some(({ revoked }) => chain.some((one) => isAmong(revoked, one)))
    ? undefined
    : chain;
};

/** Whether a certificate signs in with a role. */
export const isGoodFor = async (
  parts: RoleChoiceParts,
  mount: MountScope,
  role: CertRole,
  certificate: ClientCertificate,
): Promise<boolean> => {
  const chain = findGoodChain(role, await openAttempt(parts, mount, [role], certificate));
  return chain !== undefined && (await parts.isCurrent(mount, role.ocsp, chain));
};

interface RoleChoice {
  readonly name: string;
  readonly role: CertRole;
  /** The certificates that a login with the role depends on. */
  readonly chain: readonly ParsedCertificate[];
}

/**
 * The first role, by name, that fits the certificate, which may be revoked as far as only a responder knows it.
 * @param given name of the role; "" for any
 */
export const chooseRole = async (
  parts: RoleChoiceParts,
  mount: MountScope,
  certificate: ClientCertificate,
  given: string,
): Promise<RoleChoice | undefined> => {
  const records = roleRecords(mount);
  const name = given === '' ? '' : toRoleName(given);
  const named = name === '' ? undefined : await records.find(parts.store, name);
  const roles =
    name === ''
      ? await records.entries(parts.store)
      : named === undefined
        ? []
        : [[name, named] as const];
  const attempt = await openAttempt(
    parts,
    mount,
    roles.map(([, role]) => role),
    certificate,
  );
  for (const [found, role] of roles) {
    const chain = findGoodChain(role, attempt);
    if (chain !== undefined) return { name: found, role, chain };
  }
  return undefined;
};

/**
 * The role with which a certificate signs in. If the one that fits asks for the status of the certificate, it decides: no
 * other role is tried, so that a login asks once.
 * @param given name of the role; "" for any
 */
export const findRole = async (
  parts: RoleChoiceParts,
  mount: MountScope,
  certificate: ClientCertificate,
  given: string,
): Promise<readonly [string, CertRole] | undefined> => {
  const chosen = await chooseRole(parts, mount, certificate, given);
  return chosen && (await parts.isCurrent(mount, chosen.role.ocsp, chosen.chain))
    ? [chosen.name, chosen.role]
    : undefined;
};
