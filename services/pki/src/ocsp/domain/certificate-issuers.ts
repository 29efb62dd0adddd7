/** Finds the issuers that an OCSP request names by digests of name and key (RFC 6960 §4.1.1). */
import { hash } from 'node:crypto';
import { type CertId, type CertIdHash, publicKeyOctets } from '@keelson/x509';
import type { Authority, IssuerInUse } from '../../issuers/domain/authority.ts';

type Index = ReadonlyMap<string, readonly IssuerInUse[]>;

const indexOf = (authority: Authority, algorithm: CertIdHash): Index => {
  const index = new Map<string, IssuerInUse[]>();
  for (const issuer of authority.issuers) {
    const { subject, publicKeyDer } = issuer.certificate;
    const key =
      hash(algorithm, subject, 'hex') + hash(algorithm, publicKeyOctets(publicKeyDer), 'hex');
    index.set(key, [...(index.get(key) ?? []), issuer]);
  }
  return index;
};

const indexes = new WeakMap<Authority, Map<CertIdHash, Index>>();

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Issuers of this name and key: several where a certificate was issued again for the same key. */
export const findIssuers = (authority: Authority, certId: CertId): readonly IssuerInUse[] => {
  const { hash: algorithm, nameHash, keyHash } = certId;
  if (algorithm === undefined) return [];
  let known = indexes.get(authority);
  if (known === undefined) indexes.set(authority, (known = new Map<CertIdHash, Index>()));
  let index = known.get(algorithm);
  if (index === undefined) known.set(algorithm, (index = indexOf(authority, algorithm)));
  return index.get(hex(nameHash) + hex(keyHash)) ?? [];
};

/** The issuer that signs answers: the first of these that has a key and the usage. */
export const findResponder = (issuers: readonly IssuerInUse[]): IssuerInUse | undefined =>
  issuers.find(({ hasKey, issuer }) => hasKey && issuer.usages.includes('ocsp-signing'));
