/** The judgement of answers of OCSP responders about the certificate that was asked about. */
import { KeelsonError } from '@keelson/errors';
import {
  type CertId,
  isOcspAnswerOf,
  type OcspAnswer,
  type OcspStatement,
  type ParsedCertificate,
  parseOcspResponse,
} from '@keelson/x509';

/** A certificate, and what its status is judged by. */
export interface StatusQuestion {
  readonly certId: CertId;
  readonly nonce: Uint8Array;
  readonly issuer: ParsedCertificate;
  /** Responders, and authorities of responders, that are trusted like the issuer. */
  readonly trusted: readonly ParsedCertificate[];
  /** Age at which a status is refused; 0: as the responder says. */
  readonly maxAgeSeconds: number;
}

export type StatusVerdict =
  | { readonly kind: 'good' }
  | { readonly kind: 'revoked' }
  /** There is no status; another server may have one. */
  | { readonly kind: 'absent'; readonly reason: string }
  /** An answer that must not be believed, and after which nobody else is. */
  | { readonly kind: 'false'; readonly reason: string };

/** By which the clocks of responders may differ from ours. */
const CLOCK_SKEW_MS = 5 * 60_000;

const isSame = (left: Uint8Array, right: Uint8Array): boolean => Buffer.from(left).equals(right);

const isAbout = ({ certId: asked }: StatusQuestion, { certId }: OcspStatement): boolean =>
  asked.hash === certId.hash &&
  isSame(asked.nameHash, certId.nameHash) &&
  isSame(asked.keyHash, certId.keyHash) &&
  isSame(asked.serialNumber, certId.serialNumber);

/** Whether the status is that of now, and not one that was recorded when it was another. */
const isFresh = (
  { thisUpdateMs, nextUpdateMs }: OcspStatement,
  { hasNonce, maxAgeSeconds }: { readonly hasNonce: boolean; readonly maxAgeSeconds: number },
  nowMs: number,
): boolean => {
  const ageMs = nowMs - thisUpdateMs;
  if (ageMs < -CLOCK_SKEW_MS) return false;
  if (maxAgeSeconds > 0 && ageMs > maxAgeSeconds * 1000) return false;
  if (nextUpdateMs !== undefined) return nowMs - nextUpdateMs <= CLOCK_SKEW_MS;
  // Without a nonce or an end, nothing else tells that it was not recorded long ago.
  return hasNonce || maxAgeSeconds > 0 || ageMs <= CLOCK_SKEW_MS;
};

const judge = (answer: OcspAnswer, question: StatusQuestion, nowMs: number): StatusVerdict => {
  const { nonce } = answer;
  if (!isOcspAnswerOf(answer, { ...question, nowMs }))
    return { kind: 'false', reason: 'no responder of the issuer has signed it' };
  if (nonce !== undefined && !isSame(nonce, question.nonce))
    return { kind: 'false', reason: 'it is the answer to another question' };
  const statements = answer.statements.filter((one) => isAbout(question, one));
  if (statements.length === 0) return { kind: 'false', reason: 'it is about another certificate' };
  // A revoked certificate stays so, however old the answer is.
  if (statements.some(({ status }) => status === 'revoked')) return { kind: 'revoked' };
  const { maxAgeSeconds } = question;
  const hasNonce = nonce !== undefined;
  if (!statements.every((one) => isFresh(one, { hasNonce, maxAgeSeconds }, nowMs)))
    return { kind: 'false', reason: 'it is too old, or not valid yet' };
  return statements.every(({ status }) => status === 'good')
    ? { kind: 'good' }
    : { kind: 'absent', reason: 'the responder does not know the certificate' };
};

/** @param der from the responder, who may be anybody */
export const judgeAnswer = (
  der: Uint8Array,
  question: StatusQuestion,
  nowMs: number,
): StatusVerdict => {
  try {
    const answer = parseOcspResponse(der);
    return answer === undefined
      ? { kind: 'absent', reason: 'the responder answered with an error' }
      : judge(answer, question, nowMs);
  } catch (error) {
    if (KeelsonError.from(error).code !== 'pki.malformed') throw error;
    return { kind: 'false', reason: 'it is no answer of OCSP' };
  }
};
