/** Signs revocation lists with the caller's entries; nothing is stored (reference §5.8). */
import type { Clock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';
import {
  authorityKeyIdentifier,
  type CrlEntry,
  createCrl,
  crlNumber,
  decodePem,
  deltaCrlIndicator,
  EXTENSION,
  type Extension,
  findReason,
  isCrlSignedBy,
  type ParsedCrl,
  parseCrl,
  REVOCATION_REASON,
} from '@keelson/x509';
import type { IssuerInUse } from '../../issuers/domain/authority.ts';

export interface CrlOrder {
  readonly issuer: IssuerInUse;
  readonly number: number;
  /** -1: a complete list. */
  readonly deltaBaseNumber: number;
  readonly nextUpdateSeconds: number;
  readonly entries: readonly CrlEntry[];
  /** In addition to those that every list has. */
  readonly extensions: readonly Extension[];
}

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const RESERVED: readonly string[] = [
  EXTENSION.crlNumber,
  EXTENSION.deltaCrlIndicator,
  EXTENSION.authorityKeyIdentifier,
];

const checkExtensions = (extensions: readonly Extension[], reserved: readonly string[]): void => {
  const seen = new Set<string>();
  for (const { oid } of extensions) {
    if (reserved.includes(oid))
      refuse(`extension with oid ${oid} is reserved and can not be specified`);
    if (seen.has(oid)) refuse(`duplicate extension id ${oid}`);
    seen.add(oid);
  }
};

/** @throws KeelsonError `request.invalid` */
export const signCrl = (clock: Clock, order: CrlOrder): Promise<Uint8Array> => {
  const { issuer, number, deltaBaseNumber } = order;
  issuer.requireUsage('crl-signing');
  if (number < 0) refuse('"crl_number" parameter must be 0 or greater');
  if (deltaBaseNumber < -1) refuse('"delta_crl_base_number" parameter must be -1 or greater');
  if (deltaBaseNumber >= number)
    refuse('"delta_crl_base_number" must be less than "crl_number" parameter');
  if (order.nextUpdateSeconds <= 0) refuse('"next_update" parameter must be a positive duration');
  checkExtensions(order.extensions, RESERVED);
  for (const { extensions = [] } of order.entries) checkExtensions(extensions, []);
  const thisUpdateMs = Math.floor(clock.nowMs() / 1000) * 1000;
  return createCrl(
    {
      issuer: issuer.certificate.subject,
      thisUpdateMs,
      nextUpdateMs: thisUpdateMs + order.nextUpdateSeconds * 1000,
      extensions: [
        authorityKeyIdentifier(issuer.keyIdentifier),
        crlNumber(BigInt(number)),
        ...(deltaBaseNumber < 0 ? [] : [deltaCrlIndicator(BigInt(deltaBaseNumber))]),
        ...order.extensions,
      ],
    },
    order.entries,
    issuer.revocationSigner(),
  );
};

const readCrl = (pem: string, position: number, issuer: IssuerInUse): ParsedCrl => {
  const [block, ...more] = decodePem(pem);
  if (block === undefined || more.length > 0 || !/^(X509 )?CRL$/.test(block.label))
    return refuse(`failed parsing crl argument ${position}: expected one CRL in PEM`);
  const crl = parseCrl(block.der);
  if (!isCrlSignedBy(crl, issuer.certificate.publicKeyDer))
    refuse(`failed validating CRL at position ${position}, was it signed by this issuer?`);
  return crl;
};

export interface MergedEntries {
  readonly entries: readonly CrlEntry[];
  readonly warnings: readonly string[];
}

/**
 * Entries of several lists of one issuer; one that is on several keeps its oldest date and the reason that
 * came with it, unless a list names the compromise of its key. Other extensions of entries are left out.
 */
export const mergeCrls = (pems: readonly string[], issuer: IssuerInUse): MergedEntries => {
  if (pems.length === 0) refuse('no CRLs were provided');
  const oldest = new Map<string, CrlEntry>();
  const warnings: string[] = [];
  for (const [index, pem] of pems.entries())
    for (const entry of readCrl(pem, index, issuer).entries) {
      const serial = Buffer.from(entry.serialNumber).toString('hex');
      const known = oldest.get(serial);
      if (known !== undefined && known.revokedAtMs !== entry.revokedAtMs)
        warnings.push(
          `serial ${serial} was revoked on several lists at different times; the oldest is kept`,
        );
      const { serialNumber, revokedAtMs, extensions = [] } = entry;
      const reason = findReason(extensions);
      const first =
        known !== undefined && known.revokedAtMs <= revokedAtMs
          ? known
          : { serialNumber, revokedAtMs, reason };
      const isCompromised = [known?.reason, reason].includes(REVOCATION_REASON.keyCompromise);
      oldest.set(serial, {
        ...first,
        reason: isCompromised ? REVOCATION_REASON.keyCompromise : first.reason,
      });
    }
  return { entries: [...oldest.values()], warnings };
};
