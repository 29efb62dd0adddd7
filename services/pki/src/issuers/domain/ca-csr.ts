/** The request for an intermediate whose key is in this mount (reference §2.4). */
import {
  basicConstraints,
  type CsrFields,
  encodeName,
  type KeyUsage,
  keyUsage,
  type SubjectAttributes,
  subjectAltName,
  toDistinguishedName,
} from '@keelson/x509';
import { type AlternativeNames, toGeneralNames } from '../../names/domain/alternative-names.ts';
import { type CaLimits, limitExtensions } from './ca-certificate.ts';

export interface CaCsrRequest {
  readonly attributes: SubjectAttributes;
  readonly alternatives: AlternativeNames;
  /** Empty if the signer decides. */
  readonly keyUsages: readonly KeyUsage[];
  /** Some signers expect basic constraints in the CSR of a CA; a path length is part of them. */
  readonly addBasicConstraints: boolean;
  /** Undefined means no limit. */
  readonly pathLength: number | undefined;
  readonly limits: CaLimits;
  readonly publicKeyDer: Uint8Array;
}

export const buildCaCsr = (request: CaCsrRequest): CsrFields => {
  const name = toDistinguishedName(request.attributes);
  const alternatives = toGeneralNames(request.alternatives);
  const { pathLength } = request;
  return {
    subject: encodeName(name),
    publicKeyDer: request.publicKeyDer,
    extensions: [
      ...(request.keyUsages.length > 0 ? [keyUsage(request.keyUsages)] : []),
      ...(request.addBasicConstraints || pathLength !== undefined
        ? [basicConstraints({ isCa: true, pathLength })]
        : []),
      ...(alternatives.length > 0 ? [subjectAltName(alternatives, name.length === 0)] : []),
      ...limitExtensions(request.limits),
    ],
  };
};
