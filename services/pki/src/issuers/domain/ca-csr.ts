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

export interface CaCsrRequest {
  readonly attributes: SubjectAttributes;
  readonly alternatives: AlternativeNames;
  /** None: the signer decides. */
  readonly keyUsages: readonly KeyUsage[];
  /** Some signers expect basic constraints in the CSR of a CA. */
  readonly addBasicConstraints: boolean;
  readonly publicKeyDer: Uint8Array;
}

export const buildCaCsr = (request: CaCsrRequest): CsrFields => {
  const name = toDistinguishedName(request.attributes);
  const alternatives = toGeneralNames(request.alternatives);
  return {
    subject: encodeName(name),
    publicKeyDer: request.publicKeyDer,
    extensions: [
      ...(request.keyUsages.length > 0 ? [keyUsage(request.keyUsages)] : []),
      ...(request.addBasicConstraints ? [basicConstraints({ isCa: true })] : []),
      ...(alternatives.length > 0 ? [subjectAltName(alternatives, name.length === 0)] : []),
    ],
  };
};
