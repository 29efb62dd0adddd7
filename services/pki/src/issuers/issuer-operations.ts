import type { Clock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import type { Store, Transaction } from '@keelson/storage';
import { keyTypeOfScheme, toSerialKey } from '@keelson/x509';
import { checkUrls } from '../authority-urls/domain/authority-urls.ts';
import { findCertificate } from '../certificates/certificate-records.ts';
import { type ThisCluster, writeRevocation } from '../clusters/cluster-records.ts';
import type { CrlBuilder } from '../crl/crl-builder.ts';
import type { MountScope } from '../mounts/mount-records.ts';
import { roleRecords } from '../roles/role-records.ts';
import type { Authority, IssuerInUse } from './domain/authority.ts';
import type { Defaults as StoredDefaults } from './domain/defaults.ts';
import { checkFreeName } from './domain/free-name.ts';
import { type Issuer, maySignCrls } from './domain/issuer.ts';
import { describePublicKey } from './domain/public-key.ts';
import {
  type Authorities,
  defaultsRecords,
  issuerRecords,
  keyRecords,
  loadAuthority,
  loadDefaults,
  noteIssuerChange,
  SETTING,
} from './issuer-records.ts';

export interface IssuerParts {
  readonly store: Store;
  readonly authorities: Authorities;
  readonly crlBuilder: CrlBuilder;
  readonly clock: Clock;
  readonly cluster: () => ThisCluster;
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const checkIssuer = (changed: Issuer, { certificate, issuer: before }: IssuerInUse): void => {
  if (changed.usages.includes('crl-signing') && !maySignCrls(certificate))
    refuse('this issuer cannot be given the crl-signing usage: its certificate lacks CRLSign');
  if (before.revokedAtMs !== undefined && changed.usages.includes('issuing-certificates'))
    refuse('issuing-certificates cannot be given to a revoked issuer');
  const keyType = describePublicKey(certificate.publicKeyDer).type;
  if (
    changed.revocationScheme !== undefined &&
    keyTypeOfScheme(changed.revocationScheme) !== keyType
  )
    refuse('revocation_signature_algorithm does not fit the type of the issuer key');
  if (changed.urls !== undefined) checkUrls(changed.urls);
};

/** Looking through more roles than this is not worth a warning. */
const MAX_ROLES_SEARCHED = 1000;

const renameWarnings = async (
  tx: Transaction,
  mount: MountScope,
  before: Issuer,
  after: Issuer,
): Promise<readonly string[]> => {
  if (before.name === '' || before.name === after.name) return [];
  const roles = await roleRecords(mount).entries(tx, { limit: MAX_ROLES_SEARCHED });
  const users = roles.filter(([, { issuerRef }]) => issuerRef === before.name);
  return users.length === 0
    ? []
    : [
        `the issuer is no longer known as ${before.name}, but these roles name it so: ${users.map(([name]) => name).join(', ')}`,
      ];
};

/** The chain as ids, this issuer first; references are those of a request. */
const resolveManualChain = (
  authority: Authority,
  id: string,
  references: readonly string[],
): readonly string[] => {
  const chain = references.map((reference, index) => {
    if (index === 0 && reference === 'self') return id;
    const found = authority.findIssuer(reference);
    return (
      found?.issuer.id ??
      refuse(`manual_chain: unable to find PKI issuer for reference: ${reference}`)
    );
  });
  if (chain.length > 0 && chain[0] !== id)
    refuse(`expected first cert in chain to be a self-reference, but was: ${references[0]}`);
  return chain;
};

/** Changes an issuer; `change` gets it as it is. Returns warnings. */
export const updateIssuer = (
  { store, clock }: IssuerParts,
  mount: MountScope,
  reference: string,
  change: (issuer: Issuer) => Issuer,
): Promise<readonly string[]> =>
  store.transact(async (tx) => {
    const authority = await loadAuthority(tx, mount);
    const found = authority.requireIssuer(reference);
    const changed = change(found.issuer);
    const others = authority.issuers.map(({ issuer }) => issuer);
    checkFreeName('issuer', changed.name, others, changed.id);
    // A chain that stays may name issuers that were deleted since: they are skipped, not refused.
    const manualChain =
      changed.manualChain === found.issuer.manualChain
        ? changed.manualChain
        : resolveManualChain(authority, changed.id, changed.manualChain);
    checkIssuer(changed, found);
    issuerRecords(mount).write(tx, changed.id, { ...changed, manualChain });
    noteIssuerChange(tx, mount, clock);
    return renameWarnings(tx, mount, found.issuer, changed);
  });

/** Deletes all issuers and keys of a mount; certificates and roles stay. Returns warnings. */
export const deleteRoot = (
  { store, clock }: IssuerParts,
  mount: MountScope,
): Promise<readonly string[]> =>
  store.transact(async (tx) => {
    noteIssuerChange(tx, mount, clock);
    const { issuers, keys } = await loadAuthority(tx, mount);
    for (const { issuer } of issuers) issuerRecords(mount).delete(tx, issuer.id);
    for (const { id } of keys) keyRecords(mount).delete(tx, id);
    const defaults = await loadDefaults(tx, mount);
    defaultsRecords(mount).write(tx, SETTING.defaults, { ...defaults, issuerId: '', keyId: '' });
    return [
      `Deleted ${issuers.length} issuers and ${keys.length} keys of this mount. Nothing can be issued until a new issuer is configured.`,
    ];
  });

/** Deletes an issuer, its key stays; returns warnings. An unknown one is no error. */
export const deleteIssuer = (
  { store, clock }: IssuerParts,
  mount: MountScope,
  reference: string,
): Promise<readonly string[]> =>
  store.transact(async (tx) => {
    const authority = await loadAuthority(tx, mount);
    const found = authority.findIssuer(reference);
    if (found === undefined) return [];
    issuerRecords(mount).delete(tx, found.issuer.id);
    noteIssuerChange(tx, mount, clock);
    const defaults = await loadDefaults(tx, mount);
    if (defaults.issuerId !== found.issuer.id) return [];
    defaultsRecords(mount).write(tx, SETTING.defaults, { ...defaults, issuerId: '' });
    return [
      `Deleted issuer ${found.issuer.id} (via issuer_ref ${reference}); this was configured as the default issuer. Operations without an explicit issuer will not work until a new default is configured.`,
    ];
  });

/** Takes the right to issue from an issuer and puts it on the lists of those above it. */
export const revokeIssuer = async (
  parts: IssuerParts,
  mount: MountScope,
  reference: string,
): Promise<readonly string[]> => {
  const revokedAtMs = Math.floor(parts.clock.nowMs() / 1000) * 1000;
  const wasRevoked = await parts.store.transact(async (tx) => {
    const authority = await loadAuthority(tx, mount);
    const { issuer, certificate, isSelfSigned } = authority.requireIssuer(reference);
    if (issuer.revokedAtMs !== undefined) return true;
    const signer = isSelfSigned ? undefined : authority.findSigner(certificate);
    const serialKey = toSerialKey(certificate.serialNumber);
    const stored = signer && (await findCertificate(tx, mount, serialKey));
    // One that this mount issued is also a certificate that was revoked.
    if (signer && stored && Buffer.from(stored).equals(certificate.der))
      await writeRevocation(tx, mount, parts.cluster(), serialKey, {
        revokedAtMs,
        issuerId: signer.issuer.id,
        notAfterMs: certificate.notAfterMs,
      });
    noteIssuerChange(tx, mount, parts.clock);
    issuerRecords(mount).write(tx, issuer.id, {
      ...issuer,
      revokedAtMs,
      usages: issuer.usages.filter((usage) => usage !== 'issuing-certificates'),
    });
    return false;
  });
  if (wasRevoked) return [];
  const authority = await parts.authorities.of(mount);
  const found = authority.requireIssuer(reference);
  const warnings = [...(await parts.crlBuilder.rebuild(mount))];
  if (found.isSelfSigned)
    warnings.push('this issuer is self-signed: no list can tell relying parties of its revocation');
  else if (authority.chainOf(found).length === 1)
    warnings.push('no issuer of this mount signed the revoked one: it is on no list of this mount');
  if (found === authority.defaultIssuer) warnings.push('the default issuer was revoked');
  return warnings;
};

export interface Defaults {
  readonly issuerId: string;
  readonly followsLatestIssuer: boolean;
  readonly keyId: string;
  readonly warnings: readonly string[];
}

/**
 * Changes which issuer and key are the default; references are resolved. Lists are made anew with the
 * default issuer: its list carries what no issuer of the mount made.
 */
export const updateDefaults = async (
  { store, crlBuilder, clock }: IssuerParts,
  mount: MountScope,
  change: {
    readonly issuerRef?: string;
    readonly keyRef?: string;
    readonly followsLatestIssuer?: boolean | undefined;
  },
): Promise<Defaults> => {
  const { defaults, isNewIssuer } = await store.transact(async (tx) => {
    const authority = await loadAuthority(tx, mount);
    const before = await loadDefaults(tx, mount);
    const reference = change.issuerRef ?? change.keyRef;
    if (reference === '' || reference === 'default')
      refuse("Invalid issuer specification; must be non-empty and can't be 'default'.");
    const issuer =
      change.issuerRef === undefined ? undefined : authority.findIssuer(change.issuerRef);
    const key = change.keyRef === undefined ? undefined : authority.findKey(change.keyRef);
    // The same text for issuers and keys: clients know it so.
    if (reference !== undefined && issuer === undefined && key === undefined)
      refuse(
        `Error resolving issuer reference: unable to find PKI issuer for reference: ${reference}`,
      );
    const next: StoredDefaults = {
      issuerId: issuer?.issuer.id ?? before.issuerId,
      keyId: key?.id ?? before.keyId,
      followsLatestIssuer: change.followsLatestIssuer ?? before.followsLatestIssuer,
    };
    defaultsRecords(mount).write(tx, SETTING.defaults, next);
    noteIssuerChange(tx, mount, clock);
    const warnings =
      issuer !== undefined && !issuer.hasKey
        ? ['the chosen default issuer has no key: it cannot issue certificates']
        : [];
    const isNewIssuer = next.issuerId !== before.issuerId;
    return { defaults: { ...next, warnings }, isNewIssuer };
  });
  if (!isNewIssuer) return defaults;
  return { ...defaults, warnings: [...defaults.warnings, ...(await crlBuilder.rebuild(mount))] };
};
