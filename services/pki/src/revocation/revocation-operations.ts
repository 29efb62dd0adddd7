import { type MountScope } from '@keelson/engine';
import { hasCode, KeelsonError } from '@keelson/errors';
import {
  decodePem,
  EXTENSION,
  findExtension,
  isSamePublicKey,
  type ParsedCertificate,
  parseBasicConstraints,
  parseCertificate,
  parsePrivateKey,
  parseSerialText,
  REVOCATION_REASON,
  type RevocationReason,
  reasonName,
  toSerialHex,
  toSerialKey,
} from '@keelson/x509';
import { findCertificate, writeCertificate } from '../certificates/certificate-records.ts';
import type { Revoker } from '../certificates/domain/revoker.ts';
import { revocationRecords } from '../certificates/revocation-records.ts';
import { type AnnouncingParts, announceRevocations } from '../clusters/announcing-operations.ts';
import { findClusterRevocation, writeRevocation } from '../clusters/cluster-records.ts';
import { banKey } from '../clusters/key-bans.ts';
import { requestRevocation } from '../clusters/request-operations.ts';
import type { CrlBuilder } from '../crl/build/crl-builder.ts';
import type { Authority } from '../issuers/domain/authority.ts';
import { describePublicKey } from '../issuers/domain/public-key.ts';
import type { Authorities } from '../issuers/issuer-records.ts';
import type { PkiCounters } from '../metrics/counters.ts';
import {
  type CertificateKind,
  changeBy,
  isCompromise,
  judge,
  type PermittedRevocation,
  type RevocationChange,
} from './domain/revocation-table.ts';

export interface RevocationParts extends AnnouncingParts {
  readonly authorities: Authorities;
  readonly crlBuilder: CrlBuilder;
  readonly counters: PkiCounters;
}

export interface RevokeRequest {
  readonly mount: MountScope;
  readonly serialNumber: string;
  /** PEM. */
  readonly certificate: string;
  /** PEM, where the request proves possession; undefined on the privileged path. */
  readonly privateKey?: string;
  /** Undefined if the request gives none. */
  readonly reason?: RevocationReason | undefined;
  readonly by: Revoker;
}

export type RevokeOutcome =
  | {
      readonly kind: 'revoked';
      readonly change: RevocationChange;
      readonly revokedAtMs: number;
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'expired'; readonly serialHex: string; readonly notAfterMs: number }
  /** Another cluster was asked to revoke it. */
  | { readonly kind: 'pending'; readonly serialHex: string };

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const MIN_CERTIFICATE_LENGTH = 75;
const MIN_KEY_LENGTH = 64;
/** A certificate about to expire within this time is as good as expired. */
const EXPIRY_SLACK_MS = 2000;

const parsePresented = (pem: string): ParsedCertificate => {
  if (pem.length < MIN_CERTIFICATE_LENGTH)
    refuse(
      'provided certificate data was too short; perhaps a path was passed to the API rather than the contents of a PEM file',
    );
  const blocks = decodePem(pem);
  const [block] = blocks;
  if (block === undefined || blocks.length > 1) return refuse('expected exactly one certificate');
  return parseCertificate(block.der);
};

const refuseIssuer = (authority: Authority, serialHex: string): void => {
  const issuer = authority.issuers.find((candidate) => candidate.serialHex === serialHex);
  if (issuer !== undefined)
    refuse(
      `adding issuer (id: ${issuer.issuer.id}) to its own CRL is not allowed; an issuer is revoked by issuer/:issuer_ref/revoke`,
    );
};

const isCa = ({ extensions }: ParsedCertificate): boolean => {
  const constraints = findExtension(extensions, EXTENSION.basicConstraints);
  return constraints !== undefined && parseBasicConstraints(constraints.value).isCa;
};

/** @param isAcmeIssued whether an order of ACME led to the certificate; only the ways of ACME ask */
export const kindOf = (
  authority: Authority,
  certificate: ParsedCertificate,
  isAcmeIssued = false,
): CertificateKind => {
  const serialHex = toSerialHex(certificate.serialNumber);
  if (authority.issuers.some((issuer) => issuer.serialHex === serialHex)) return 'issuer';
  if (isCa(certificate)) return 'ca';
  return isAcmeIssued ? 'acme-leaf' : 'leaf';
};

const findBySerial = async (
  { store }: RevocationParts,
  { mount, serialNumber }: RevokeRequest,
): Promise<ParsedCertificate | undefined> => {
  const der = await findCertificate(store, mount, toSerialKey(parseSerialText(serialNumber)));
  return der && parseCertificate(der);
};

/** Handles a certificate that this cluster does not know. */
const revokeElsewhere = async (
  parts: RevocationParts,
  { mount, serialNumber, privateKey, reason, by }: RevokeRequest,
  authority: Authority,
): Promise<RevokeOutcome> => {
  const serial = parseSerialText(serialNumber);
  const serialHex = toSerialHex(serial);
  const { unifiedCrl, crossClusterRevocation } = authority.settings.crl;
  const known = unifiedCrl
    ? await findClusterRevocation(parts.store, mount, toSerialKey(serial))
    : undefined;
  const isFoundCompromised = reason === REVOCATION_REASON.keyCompromise && known?.reason !== reason;
  if (known !== undefined && !(isFoundCompromised && crossClusterRevocation))
    return {
      kind: 'revoked',
      change: 'unchanged',
      revokedAtMs: known.revokedAtMs,
      warnings: [
        `the certificate was revoked in cluster ${known.clusters.join(', ')}`,
        ...(reason === undefined || reason === known.reason
          ? []
          : [`its reason stays ${reasonName(known.reason)}: only that cluster can replace it`]),
      ],
    };
  if (!crossClusterRevocation) return refuse(`certificate with serial ${serialHex} not found.`);
  if (privateKey !== undefined)
    return refuse(
      `certificate with serial ${serialHex} not found; revocation by proof of possession is not forwarded to other clusters`,
    );
  await requestRevocation(parts, mount, toSerialKey(serial), reason, by);
  return { kind: 'pending', serialHex };
};

/** The presented certificate, which must be the stored one or carry the signature of an issuer here. */
export const acceptPresented = async (
  { store }: Pick<RevocationParts, 'store'>,
  mount: MountScope,
  presented: ParsedCertificate,
  authority: Authority,
): Promise<ParsedCertificate> => {
  const stored = await findCertificate(store, mount, toSerialKey(presented.serialNumber));
  if (stored !== undefined && !Buffer.from(stored).equals(presented.der))
    refuse('certificate with same serial but unequal value already present');
  if (stored === undefined && authority.findSigner(presented) === undefined)
    refuse('unable to verify signature on presented cert from any present issuer in this mount');
  return presented;
};

/** Some tools write the curve before the key. */
const onlyKeyIn = (pem: string): Uint8Array => {
  const [block, ...more] = decodePem(pem).filter(({ label }) => label !== 'EC PARAMETERS');
  return block === undefined || more.length > 0 ? new Uint8Array(0) : block.der;
};

const checkPossession = (certificate: ParsedCertificate, privateKeyPem: string): void => {
  if (privateKeyPem === '')
    refuse('Must have private key to revoke via the /revoke-with-key path.');
  if (privateKeyPem.length < MIN_KEY_LENGTH)
    refuse(
      'Provided data for private_key was too short; perhaps a path was passed to the API rather than the contents of a PEM file?',
    );
  let publicKeyDer: Uint8Array;
  try {
    // Checks that the private part belongs to the public one, because the public part alone is not secret.
    publicKeyDer = parsePrivateKey(onlyKeyIn(privateKeyPem)).publicKeyDer;
  } catch {
    // The cause is dropped, because it may quote the input, which is secret.
    return refuse('provided key PEM block contained no data or failed to parse');
  }
  if (isSamePublicKey(publicKeyDer, certificate.publicKeyDer)) return;
  const [given, needed] = [publicKeyDer, certificate.publicKeyDer].map(
    (der) => describePublicKey(der).type,
  );
  refuse(
    given === needed
      ? "provided private key does not match certificate's public key"
      : "provided private key type does not match certificate's public key type",
  );
};

const checkParameters = ({ serialNumber, certificate }: RevokeRequest): void => {
  if (serialNumber === '' && certificate === '')
    refuse('The serial number or certificate to revoke must be provided.');
  if (serialNumber !== '' && certificate !== '')
    refuse('Must provide either the certificate or the serial to revoke; not both.');
};

interface Recorded {
  readonly revokedAtMs: number;
  readonly reason?: RevocationReason | undefined;
  readonly change: RevocationChange;
}

/** Records a revocation, or the compromise that was found after it, and bans a compromised key. */
const recordRevocation = async (
  { store, clock, cluster, counters }: RevocationParts,
  { mount, certificate, permitted, by }: RevocationCase,
  issuerId: string,
): Promise<Recorded> => {
  const serialKey = toSerialKey(certificate.serialNumber);
  const nowMs = Math.floor(clock.nowMs() / 1000) * 1000;
  const recorded = await store.transact(async (tx): Promise<Recorded> => {
    const existing = await revocationRecords(mount).find(tx, serialKey);
    const change = changeBy(permitted, existing);
    if (isCompromise(permitted.kind, permitted.reason))
      await banKey(tx, mount, cluster(), certificate.publicKeyDer, {
        bannedAtMs: nowMs,
        serialKey,
      });
    if (change === 'unchanged' && existing !== undefined) return { ...existing, change };
    if ((await findCertificate(tx, mount, serialKey)) === undefined)
      writeCertificate(tx, mount, serialKey, certificate.der);
    const { notAfterMs } = certificate;
    const { reason } = permitted;
    const { revokedAtMs, revokedBy } = existing ?? { revokedAtMs: nowMs, revokedBy: by };
    await writeRevocation(tx, mount, cluster(), serialKey, {
      revokedAtMs,
      issuerId,
      notAfterMs,
      reason,
      revokedBy,
      ...(existing !== undefined && { compromiseReportedBy: by }),
    });
    return { revokedAtMs, reason, change };
  });
  if (recorded.change === 'first') counters.revoked.inc(mount.uuid);
  return recorded;
};

/** Says that a reason was not recorded. */
const reasonWarnings = (
  { reason: wanted }: PermittedRevocation,
  { reason, change }: Recorded,
): readonly string[] =>
  change !== 'unchanged' || wanted === undefined || wanted === reason
    ? []
    : [
        `the certificate was revoked before, and its reason stays ${reasonName(reason)}: only a compromise of the key replaces another reason`,
      ];

/**
 * Rebuilds the CRLs after a recorded revocation.
 * @returns warnings, also when a CRL would become too long: the revocation remains recorded
 */
const rebuildLists = async (
  { crlBuilder }: RevocationParts,
  mount: MountScope,
): Promise<readonly string[]> => {
  try {
    return await crlBuilder.rebuild(mount);
  } catch (error) {
    if (!hasCode(error, 'pki.crl_too_long')) throw error;
    return [
      `the certificate is revoked, and OCSP says so, but the CRL was not rebuilt and does not name it: ${error.message}`,
    ];
  }
};

/** A certificate of the mount, and the revocation of it that the table permits. */
export interface RevocationCase {
  readonly mount: MountScope;
  readonly authority: Authority;
  readonly certificate: ParsedCertificate;
  readonly permitted: PermittedRevocation;
  readonly by: Revoker;
}

/** Carries out a permitted revocation: records it, and rebuilds the lists unless that is left to the worker. */
export const carryOutRevocation = async (
  parts: RevocationParts,
  revocationCase: RevocationCase,
): Promise<Exclude<RevokeOutcome, { readonly kind: 'pending' }>> => {
  const { mount, authority, certificate, permitted } = revocationCase;
  const isExpired = certificate.notAfterMs < parts.clock.nowMs() + EXPIRY_SLACK_MS;
  if (isExpired && !authority.settings.crl.allowExpiredCertRevocation) {
    const serialHex = toSerialHex(certificate.serialNumber);
    return { kind: 'expired', serialHex, notAfterMs: certificate.notAfterMs };
  }
  const issuerId = authority.findSigner(certificate)?.issuer.id ?? '';
  const recorded = await recordRevocation(parts, revocationCase, issuerId);
  // A repeated call builds again: the first may have been cut off before its list was made.
  const { autoRebuild, unifiedCrl } = authority.settings.crl;
  if (autoRebuild && unifiedCrl) await announceRevocations(parts, mount);
  else if (isCompromise(permitted.kind, permitted.reason)) await parts.carry(mount);
  const listWarnings = autoRebuild ? [] : await rebuildLists(parts, mount);
  const { change, revokedAtMs } = recorded;
  const warnings = [...reasonWarnings(permitted, recorded), ...listWarnings];
  return { kind: 'revoked', change, revokedAtMs, warnings };
};

/**
 * Revokes a certificate by a token, or by possession of its key.
 * @throws KeelsonError `request.invalid`
 */
export const revokeCertificate = async (
  parts: RevocationParts,
  request: RevokeRequest,
): Promise<RevokeOutcome> => {
  checkParameters(request);
  const { mount, privateKey } = request;
  const authority = await parts.authorities.of(mount);
  if (request.serialNumber !== '')
    refuseIssuer(authority, toSerialHex(parseSerialText(request.serialNumber)));
  const certificate =
    request.serialNumber === ''
      ? await acceptPresented(parts, mount, parsePresented(request.certificate), authority)
      : await findBySerial(parts, request);
  if (certificate === undefined) return revokeElsewhere(parts, request, authority);
  if (privateKey !== undefined) checkPossession(certificate, privateKey);
  const door = privateKey === undefined ? 'operator' : 'key-holder';
  const verdict = judge(door, kindOf(authority, certificate), request.reason);
  if (verdict.kind !== 'permitted') {
    refuseIssuer(authority, toSerialHex(certificate.serialNumber));
    return refuse('this certificate cannot be revoked here with this reason');
  }
  const { permitted } = verdict;
  return carryOutRevocation(parts, { mount, authority, certificate, permitted, by: request.by });
};

/** Revokes the certificate of an ended lease. An unknown or expired certificate, or one of an issuer, counts as done. */
export const revokeLeasedCertificate = async (
  parts: RevocationParts,
  mount: MountScope,
  serialKey: string,
): Promise<void> => {
  const der = await findCertificate(parts.store, mount, serialKey);
  if (der === undefined) return;
  const serialHex = toSerialHex(parseSerialText(serialKey));
  const authority = await parts.authorities.of(mount);
  if (authority.issuers.some((issuer) => issuer.serialHex === serialHex)) return;
  const by = { kind: 'lease' } as const;
  await revokeCertificate(parts, { mount, serialNumber: serialHex, certificate: '', by });
};
