import type { MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { ClientAuthoritiesDefinition } from '@keelson/proto/pki/v1/client_authorities';
import type { RpcService } from '@keelson/rpc';
import type { Store } from '@keelson/storage';
import { type ParsedCertificate, parseCertificate, toSerialKey } from '@keelson/x509';
import { findRevocation } from '../clusters/cluster-records.ts';
import type { Authority } from '../issuers/domain/authority.ts';

/** In one login: the certificate of a client, and those that it sent with it. */
const MAX_CERTIFICATES = 16;
const MAX_MOUNTS = 1000;

export interface ClientAuthorityParts {
  readonly store: Store;
  readonly authorities: { of(mount: MountScope): Promise<Authority> };
  readonly mounts: () => readonly Mount[];
}

const isRevoked = async (
  { store }: ClientAuthorityParts,
  mount: MountScope,
  authority: Authority,
  certificate: ParsedCertificate,
): Promise<boolean> => {
  // Another authority may have given the same serial number.
  if (authority.findSigner(certificate) === undefined) return false;
  const serialKey = toSerialKey(certificate.serialNumber);
  const own = authority.issuers.find(
    (one) => toSerialKey(one.certificate.serialNumber) === serialKey,
  );
  if (own?.issuer.revokedAtMs !== undefined) return true;
  const { unifiedCrl } = authority.settings.crl;
  return (await findRevocation(store, mount, { unifiedCrl, serialKey })) !== undefined;
};

const readAuthorities = async (
  parts: ClientAuthorityParts,
  mount: Mount,
  certificates: readonly ParsedCertificate[],
) => {
  const authority = await parts.authorities.of(mount);
  const revoked: number[] = [];
  for (const [index, certificate] of certificates.entries())
    if (await isRevoked(parts, mount, authority, certificate)) revoked.push(index);
  return {
    mountUuid: mount.uuid,
    // Certificates of others, which came along with an intermediate one, are not this mount's to answer for.
    issuers: authority.issuers
      .filter(({ hasKey, issuer }) => hasKey && issuer.revokedAtMs === undefined)
      .map(({ certificate }) => Buffer.from(certificate.der)),
    revoked,
  };
};

/** The RPC service by which the auth methods trust mounts of this authority. */
export const createClientAuthorities = (
  parts: ClientAuthorityParts,
): RpcService<typeof ClientAuthoritiesDefinition> => ({
  findMounts: ({ namespaceId, paths }) =>
    Promise.resolve({
      mounts: parts
        .mounts()
        .filter(({ namespace, path }) => namespace?.id === namespaceId && paths.includes(path))
        .map(({ path, uuid }) => ({ path, uuid })),
    }),
  readAuthorities: async ({ mountUuids, certificates }) => {
    if (certificates.length > MAX_CERTIFICATES || mountUuids.length > MAX_MOUNTS)
      throw new KeelsonError('request.invalid', { text: 'too many mounts or certificates' });
    const parsed = certificates.map((der) => parseCertificate(der));
    const named = parts.mounts().filter(({ uuid }) => mountUuids.includes(uuid));
    return {
      mounts: await Promise.all(named.map((mount) => readAuthorities(parts, mount, parsed))),
    };
  },
});
