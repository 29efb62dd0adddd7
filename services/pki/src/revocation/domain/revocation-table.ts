/**
 * The revocation table: who may revoke which certificate, with which reason (docs/revocation.md). Every way to
 * revoke asks it, and what it does not list is refused.
 */
import { REVOCATION_REASON, type RevocationReason } from '@keelson/x509';

/** Ways to revoke, each with what it proves about the one who asks. */
export const REVOCATION_DOORS = [
  /** `revoke`: a token whose policies allow it; also the end of a lease and the request of another cluster. */
  'operator',
  /** `issuer/:issuer_ref/revoke`: the same for issuers. */
  'issuer-operator',
  /** `revoke-with-key`: possession of the private key. */
  'key-holder',
  /** `revoke-cert`, signed by the account that ordered the certificate. */
  'acme-orderer',
  /** `revoke-cert`, signed by an account with valid authorizations for all names of the certificate. */
  'acme-name-holder',
  /** `revoke-cert`, signed by any other account. */
  'acme-stranger',
  /** `revoke-cert`, signed by the key of the certificate. */
  'acme-key-holder',
] as const;
export type RevocationDoor = (typeof REVOCATION_DOORS)[number];

export const CERTIFICATE_KINDS = [
  /** Issued with a token or by EST. */
  'leaf',
  /** Issued by ACME. */
  'acme-leaf',
  /** A CA certificate that is not an issuer of the mount. */
  'ca',
  /** The certificate of an issuer of the mount. */
  'issuer',
] as const;
export type CertificateKind = (typeof CERTIFICATE_KINDS)[number];

const { unspecified, keyCompromise, cACompromise, affiliationChanged, superseded } =
  REVOCATION_REASON;
const { cessationOfOperation, privilegeWithdrawn } = REVOCATION_REASON;

/** Holds are not final, and the reason of a removal belongs to lists alone (RFC 5280 §5.3.1). */
export const OPERATOR_REASONS: readonly RevocationReason[] = [
  unspecified,
  keyCompromise,
  cACompromise,
  affiliationChanged,
  superseded,
  cessationOfOperation,
  privilegeWithdrawn,
];

/**
 * Reasons that a subscriber can know. The others are for the CA to give, not final, or unused. RFC 8555 §7.6
 * leaves the choice to the server.
 */
const SUBSCRIBER_REASONS: readonly RevocationReason[] = [
  unspecified,
  keyCompromise,
  affiliationChanged,
  superseded,
  cessationOfOperation,
];

export interface RevocationRight {
  /** Reasons that may be given. */
  readonly reasons: readonly RevocationReason[];
  /** Recorded whichever of them is given. */
  readonly recordsAlways?: RevocationReason;
}

const OPERATOR: RevocationRight = { reasons: OPERATOR_REASONS };
const ORDERER: RevocationRight = { reasons: SUBSCRIBER_REASONS };
/** An owner of the names says nothing about a key that is another's, and cannot have it banned. */
const NAME_HOLDER: RevocationRight = {
  reasons: SUBSCRIBER_REASONS.filter((reason) => reason !== keyCompromise),
};
/** Whoever shows the key proves that its owner is no longer the only one to have it, or is its owner and says so. */
const KEY_HOLDER: RevocationRight = { reasons: SUBSCRIBER_REASONS, recordsAlways: keyCompromise };

const ALL_BUT_ISSUERS = <T>(right: T) => ({ leaf: right, 'acme-leaf': right, ca: right });

const TABLE: Readonly<
  Record<RevocationDoor, Readonly<Partial<Record<CertificateKind, RevocationRight>>>>
> = {
  operator: ALL_BUT_ISSUERS(OPERATOR),
  'issuer-operator': { issuer: OPERATOR },
  'key-holder': ALL_BUT_ISSUERS(KEY_HOLDER),
  'acme-orderer': { 'acme-leaf': ORDERER },
  'acme-name-holder': { 'acme-leaf': NAME_HOLDER },
  'acme-stranger': {},
  'acme-key-holder': ALL_BUT_ISSUERS(KEY_HOLDER),
};

/** The right that a cell of the table grants; undefined if it grants no right. */
export const rightOf = (door: RevocationDoor, kind: CertificateKind): RevocationRight | undefined =>
  TABLE[door][kind];

declare const PERMITTED: unique symbol;

/** A revocation that the table permits. Only `judge` makes one. */
export interface PermittedRevocation {
  readonly [PERMITTED]: true;
  readonly kind: CertificateKind;
  /** undefined for `unspecified`, which lists and answers omit. */
  readonly reason: RevocationReason | undefined;
}

export type Verdict =
  | { readonly kind: 'permitted'; readonly permitted: PermittedRevocation }
  /** This door does not lead to this kind of certificate. */
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'reason-refused'; readonly reasons: readonly RevocationReason[] };

/** @param given the reason in the request; undefined if the request has no reason */
export const judge = (
  door: RevocationDoor,
  kind: CertificateKind,
  given: RevocationReason | undefined,
): Verdict => {
  const right = rightOf(door, kind);
  if (right === undefined) return { kind: 'forbidden' };
  const { reasons, recordsAlways } = right;
  if (given !== undefined && !reasons.includes(given)) return { kind: 'reason-refused', reasons };
  const reason = recordsAlways ?? (given === unspecified ? undefined : given);
  return { kind: 'permitted', permitted: { kind, reason } as PermittedRevocation };
};

/** Whether this reason says that others have the key. That of a CA has a reason of its own. */
export const isCompromise = (
  kind: CertificateKind,
  reason: RevocationReason | undefined,
): boolean =>
  reason === keyCompromise || (reason === cACompromise && (kind === 'ca' || kind === 'issuer'));

export type RevocationChange = 'first' | 'reason-replaced' | 'unchanged';

/**
 * The change that a permitted revocation makes. The first one stays, with its time and reason, but for a compromise that
 * is found later: relying parties treat signatures before the revocation differently then.
 */
export const changeBy = (
  { kind, reason }: PermittedRevocation,
  before: { readonly reason?: RevocationReason | undefined } | undefined,
): RevocationChange => {
  if (before === undefined) return 'first';
  return isCompromise(kind, reason) && !isCompromise(kind, before.reason)
    ? 'reason-replaced'
    : 'unchanged';
};
