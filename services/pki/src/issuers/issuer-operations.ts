import type { Clock } from '@keelson/clock';
import { type MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Reads, Store, Transaction } from '@keelson/storage';
import { keyTypeOfScheme } from '@keelson/x509';
import { checkUrls } from '../authority-urls/domain/authority-urls.ts';
import type { ListRebuilding } from '../crl-config/list-rebuilding.ts';
import { keyRecords, writeDefaultKeyId } from '../keys/key-records.ts';
import { settingsBefore } from '../mounts/damaged-settings.ts';
import { checkFreeName, requireNewDefault } from '../mounts/reference-name.ts';
import type { Authority, IssuerInUse } from './domain/authority.ts';
import { checkManualChain } from './domain/chain-check.ts';
import { NO_DEFAULTS } from './domain/defaults.ts';
import { type Issuer, maySignCrls } from './domain/issuer.ts';
import { describePublicKey } from './domain/public-key.ts';
import {
  type Authorities,
  issuerRecords,
  loadAuthority,
  loadDefaults,
  recordIssuerChange,
  writeDefaults,
} from './issuer-records.ts';

export interface IssuerParts {
  readonly store: Store;
  readonly authorities: Authorities;
  readonly crlBuilder: ListRebuilding;
  readonly clock: Clock;
  /** Names of roles whose issuer is given so; the number of roles searched is limited. */
  readonly rolesNaming: (
    reads: Reads,
    mount: MountScope,
    references: readonly string[],
  ) => Promise<readonly string[]>;
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

const renameWarnings = async (
  { rolesNaming }: IssuerParts,
  tx: Transaction,
  mount: MountScope,
  before: Issuer,
  after: Issuer,
): Promise<readonly string[]> => {
  if (before.name === '' || before.name === after.name) return [];
  const users = await rolesNaming(tx, mount, [before.name]);
  return users.length === 0
    ? []
    : [
        `the issuer is no longer known as ${before.name}, but these roles name it so: ${users.join(', ')}`,
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

/** Changes an issuer; `change` receives the current one. Returns warnings. */
export const updateIssuer = (
  parts: IssuerParts,
  mount: MountScope,
  reference: string,
  change: (issuer: Issuer) => Issuer,
): Promise<readonly string[]> =>
  parts.store.transact(async (tx) => {
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
    const isGiven =
      changed.manualChain !== found.issuer.manualChain ||
      found.issuer.disabledChecks?.includes('name') === true;
    if (isGiven && !changed.disabledChecks?.includes('name'))
      checkManualChain(manualChain.flatMap((id) => authority.findIssuer(id) ?? []));
    issuerRecords(mount).write(tx, changed.id, { ...changed, manualChain });
    recordIssuerChange(tx, mount, parts.clock);
    return renameWarnings(parts, tx, mount, found.issuer, changed);
  });

/** Deletes all issuers and keys of a mount; certificates and roles stay. Returns warnings. */
export const deleteRoot = (
  { store, clock }: IssuerParts,
  mount: MountScope,
): Promise<readonly string[]> =>
  store.transact(async (tx) => {
    recordIssuerChange(tx, mount, clock);
    const { issuers, keys } = await loadAuthority(tx, mount);
    for (const { issuer } of issuers) issuerRecords(mount).delete(tx, issuer.id);
    for (const { id } of keys.all) keyRecords(mount).delete(tx, id);
    writeDefaults(tx, mount, { ...(await loadDefaults(tx, mount)), issuerId: '' });
    writeDefaultKeyId(tx, mount, '');
    return [
      `Deleted ${issuers.length} issuers and ${keys.all.length} keys of this mount. Nothing can be issued until a new issuer is configured.`,
    ];
  });

/** Warnings about the roles and chains that use an issuer which is deleted. */
const usesOf = async (
  { rolesNaming }: DeletingParts,
  tx: Transaction,
  mount: MountScope,
  authority: Authority,
  { id, name }: Issuer,
): Promise<readonly string[]> => {
  const roles = await rolesNaming(tx, mount, name === '' ? [id] : [id, name]);
  const chains = authority.issuers
    .filter(({ issuer }) => issuer.id !== id && issuer.manualChain.includes(id))
    .map(({ issuer }) => issuer.name || issuer.id);
  return [
    ...(roles.length === 0
      ? []
      : [
          `Deleted issuer ${id}, which these roles name: ${roles.join(', ')}. Nothing can be issued under them until they name another.`,
        ]),
    ...(chains.length === 0
      ? []
      : [
          `Deleted issuer ${id}, which is part of the manual_chain of these issuers: ${chains.join(', ')}. Their chains leave it out.`,
        ]),
  ];
};

type DeletingParts = Pick<IssuerParts, 'store' | 'clock' | 'rolesNaming'>;

/** Deletes an issuer but keeps its key; returns warnings. An unknown issuer is not an error. */
export const deleteIssuer = (
  parts: DeletingParts,
  mount: MountScope,
  reference: string,
): Promise<readonly string[]> =>
  parts.store.transact(async (tx) => {
    const authority = await loadAuthority(tx, mount);
    const found = authority.findIssuer(reference);
    if (found === undefined) return [];
    const uses = await usesOf(parts, tx, mount, authority, found.issuer);
    issuerRecords(mount).delete(tx, found.issuer.id);
    recordIssuerChange(tx, mount, parts.clock);
    const defaults = await loadDefaults(tx, mount);
    if (defaults.issuerId !== found.issuer.id) return uses;
    writeDefaults(tx, mount, { ...defaults, issuerId: '' });
    return [
      `Deleted issuer ${found.issuer.id} (via issuer_ref ${reference}); this was configured as the default issuer. Operations without an explicit issuer will not work until a new default is configured.`,
      ...uses,
    ];
  });

export interface DefaultIssuer {
  readonly issuerId: string;
  readonly followsLatestIssuer: boolean;
  readonly warnings: readonly string[];
}

/**
 * Chooses the default issuer. The lists are rebuilt if it is another one: its list contains certificates
 * that no issuer of the mount signed.
 */
export const chooseDefaultIssuer = async (
  { store, crlBuilder, clock }: IssuerParts,
  mount: MountScope,
  change: { readonly issuerRef: string; readonly followsLatestIssuer?: boolean | undefined },
): Promise<DefaultIssuer> => {
  const { chosen, isNew } = await store.transact(async (tx) => {
    const authority = await loadAuthority(tx, mount);
    const { before, warnings: replaced } = await settingsBefore(
      loadDefaults(tx, mount),
      NO_DEFAULTS,
    );
    const { issuer, hasKey } = requireNewDefault(change.issuerRef, (reference) =>
      authority.findIssuer(reference),
    );
    const next = {
      issuerId: issuer.id,
      followsLatestIssuer: change.followsLatestIssuer ?? before.followsLatestIssuer,
    };
    writeDefaults(tx, mount, next);
    recordIssuerChange(tx, mount, clock);
    const warnings = hasKey
      ? replaced
      : [...replaced, 'the chosen default issuer has no key: it cannot issue certificates'];
    return { chosen: { ...next, warnings }, isNew: issuer.id !== before.issuerId };
  });
  if (!isNew) return chosen;
  return { ...chosen, warnings: [...chosen.warnings, ...(await crlBuilder.rebuild(mount))] };
};
