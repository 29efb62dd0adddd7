/** Revocation reasons: CRLReason (RFC 5280 §5.3.1) in CRLs and OCSP responses. */
import { DerReader } from './der/der-reader.ts';
import { TAG } from './der/der-types.ts';
import { type Der, primitive } from './der/der-writer.ts';
import { EXTENSION, type Extension, extension, findExtension } from './extensions/extension.ts';

/** Codes by name; 7 is not used. */
export const REVOCATION_REASON = {
  unspecified: 0,
  keyCompromise: 1,
  cACompromise: 2,
  affiliationChanged: 3,
  superseded: 4,
  cessationOfOperation: 5,
  certificateHold: 6,
  removeFromCRL: 8,
  privilegeWithdrawn: 9,
  aACompromise: 10,
} as const;

export type RevocationReason = (typeof REVOCATION_REASON)[keyof typeof REVOCATION_REASON];

const CODES: readonly number[] = Object.values(REVOCATION_REASON);

/** Whether a number is a reason code of RFC 5280. */
export const isRevocationReason = (code: unknown): code is RevocationReason =>
  typeof code === 'number' && CODES.includes(code);

/** The name of a reason in RFC 5280 §5.3.1; `unspecified` for a revocation without a reason. */
export const reasonName = (reason: RevocationReason = REVOCATION_REASON.unspecified): string =>
  Object.entries(REVOCATION_REASON).find(([, code]) => code === reason)?.[0] ?? '';

/** CRLReason ::= ENUMERATED. */
export const enumeratedReason = (reason: RevocationReason): Der =>
  primitive(TAG.enumerated, Uint8Array.of(reason));

/**
 * The reasonCode extension of a CRL entry; none for `unspecified`, which entries should omit
 * (§5.3.1).
 */
export const reasonExtensions = (reason: RevocationReason | undefined): readonly Extension[] =>
  reason === undefined || reason === REVOCATION_REASON.unspecified
    ? []
    : [extension(EXTENSION.reasonCode, enumeratedReason(reason))];

/**
 * The reason in an entry of an untrusted list; undefined when there is none, or an unknown one.
 * @throws KeelsonError `pki.malformed`
 */
export const findReason = (extensions: readonly Extension[]): RevocationReason | undefined => {
  const found = findExtension(extensions, EXTENSION.reasonCode);
  if (found === undefined) return undefined;
  const [code, ...more] = new DerReader(found.value).read(TAG.enumerated).content;
  return more.length === 0 && isRevocationReason(code) ? code : undefined;
};
