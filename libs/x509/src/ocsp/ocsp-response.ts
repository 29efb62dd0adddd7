/** Answers about the status of certificates (RFC 6960 §4.2), signed by the issuer itself. */
import {
  contextTag,
  explicit,
  generalizedTime,
  octetString,
  sequence,
  TAG,
} from '../der/der-types.ts';
import { constructed, type Der, encodeDer, primitive } from '../der/der-writer.ts';
import { objectIdentifier } from '../der/object-identifier.ts';
import { type Extension, extensionsSequence } from '../extensions/extension.ts';
import type { Signer } from '../keys/signature-scheme.ts';
import { enumeratedReason, type RevocationReason } from '../revocation-reason.ts';
import { signStructure } from '../signed-structure.ts';
import type { CertId } from './ocsp-request.ts';

export type CertificateStatus =
  | { readonly kind: 'good' }
  | {
      readonly kind: 'revoked';
      readonly revokedAtMs: number;
      /** undefined if the response gives none. */
      readonly reason?: RevocationReason | undefined;
    }
  | { readonly kind: 'unknown' };

export interface OcspAnswers {
  /** SHA-1 of the octets of the responder's public key (KeyHash). */
  readonly responderKeyHash: Uint8Array;
  readonly producedAtMs: number;
  readonly thisUpdateMs: number;
  /** undefined if newer information is always available. */
  readonly nextUpdateMs: number | undefined;
  readonly answers: readonly (readonly [CertId, CertificateStatus])[];
  readonly extensions: readonly Extension[];
}

const BASIC_RESPONSE_OID = '1.3.6.1.5.5.7.48.1.1';
const NOTHING = new Uint8Array(0);

const certificateStatus = (status: CertificateStatus): Der => {
  switch (status.kind) {
    case 'good':
      return primitive(contextTag(0, 'primitive'), NOTHING);
    case 'revoked':
      return constructed(contextTag(1, 'constructed'), [
        generalizedTime(status.revokedAtMs),
        ...(status.reason === undefined ? [] : [explicit(0, enumeratedReason(status.reason))]),
      ]);
    case 'unknown':
      return primitive(contextTag(2, 'primitive'), NOTHING);
  }
};

const responseData = (response: OcspAnswers): Uint8Array => {
  const { thisUpdateMs, nextUpdateMs, extensions } = response;
  return encodeDer(
    sequence(
      explicit(2, octetString(response.responderKeyHash)),
      generalizedTime(response.producedAtMs),
      sequence(
        ...response.answers.map(([{ der }, status]) =>
          sequence(
            der,
            certificateStatus(status),
            generalizedTime(thisUpdateMs),
            ...(nextUpdateMs === undefined ? [] : [explicit(0, generalizedTime(nextUpdateMs))]),
          ),
        ),
      ),
      ...(extensions.length === 0 ? [] : [explicit(1, extensionsSequence(extensions))]),
    ),
  );
};

/** A successful answer, DER. */
export const createOcspResponse = async (
  response: OcspAnswers,
  signer: Signer,
): Promise<Uint8Array> => {
  const basic = await signStructure(responseData(response), signer);
  return encodeDer(
    sequence(
      primitive(TAG.enumerated, Uint8Array.of(0)),
      explicit(0, sequence(objectIdentifier(BASIC_RESPONSE_OID), octetString(basic))),
    ),
  );
};

/** OCSPResponseStatus of error responses. */
const FAILURES = { malformedRequest: 1, internalError: 2, unauthorized: 6 } as const;

export type OcspFailure = keyof typeof FAILURES;

/** An answer without a signature, DER. */
export const ocspFailure = (failure: OcspFailure): Uint8Array =>
  encodeDer(sequence(primitive(TAG.enumerated, Uint8Array.of(FAILURES[failure]))));
