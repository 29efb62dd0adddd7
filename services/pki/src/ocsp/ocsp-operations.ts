/** Answers requests for the status of certificates, signed by the issuer itself. */

import { type MountScope } from '@keelson/engine';
import {
  type CertId,
  type CertificateStatus,
  createOcspResponse,
  keyIdentifierOf,
  nonceExtension,
  type OcspRequest,
  toSerialKey,
} from '@keelson/x509';
import type { IssuerInUse } from '../issuers/domain/authority.ts';
import { findIssuers, findResponder } from './domain/certificate-issuers.ts';
import { findStatus, type StatusScope } from './ocsp-status-operations.ts';
import { type OcspAnswer, type OcspParts, PresignedAnswers } from './presigned-answers.ts';

export interface OcspResponder {
  /** Undefined if this mount does not answer: OCSP is turned off, or no issuer may sign. */
  answer(mount: MountScope, request: OcspRequest): Promise<OcspAnswer | undefined>;
  /** Forgets everything, references to keys included. */
  clear(): void;
}

interface Exchange extends StatusScope {
  readonly request: OcspRequest;
  /** Issuers that the first certificate asked about names. */
  readonly issuers: readonly IssuerInUse[];
  readonly responder: IssuerInUse;
}

type Statuses = readonly (readonly [CertId, CertificateStatus])[];

const sign = async (
  { clock }: OcspParts,
  exchange: Exchange,
  answers: Statuses,
): Promise<OcspAnswer> => {
  const { responder, request, authority } = exchange;
  const nowMs = Math.floor(clock.nowMs() / 1000) * 1000;
  const { ocspExpirySeconds } = authority.settings.crl;
  const nextUpdateMs = ocspExpirySeconds === 0 ? undefined : nowMs + ocspExpirySeconds * 1000;
  const der = await createOcspResponse(
    {
      responderKeyHash: keyIdentifierOf(responder.certificate.publicKeyDer),
      producedAtMs: nowMs,
      thisUpdateMs: nowMs,
      nextUpdateMs,
      answers,
      extensions: request.nonce === undefined ? [] : [nonceExtension(request.nonce)],
    },
    responder.revocationSigner(),
  );
  return { der, thisUpdateMs: nowMs, nextUpdateMs, isForAll: request.nonce === undefined };
};

const answerFresh = async (parts: OcspParts, exchange: Exchange): Promise<OcspAnswer> => {
  const { authority, request, issuers } = exchange;
  const statuses: [CertId, CertificateStatus][] = [];
  for (const certId of request.certIds) {
    const named = findIssuers(authority, certId);
    // A response has one signature, which is valid for certificates of one issuer only.
    const own = named[0] === issuers[0] ? named : [];
    statuses.push([certId, await findStatus(parts.store, exchange, own, certId.serialNumber)]);
  }
  return sign(parts, exchange, statuses);
};

const answerPresigned = async (
  parts: OcspParts,
  presigned: PresignedAnswers,
  exchange: Exchange,
  certId: CertId,
  // Position before the reads, so that a change during them counts as later.
  position: number,
): Promise<OcspAnswer> => {
  const { mount, authority, hasUnstored, issuers } = exchange;
  const key = mount.uuid + Buffer.from(certId.der).toString('latin1');
  const known = await presigned.find(key);
  if (known !== undefined) return known;
  const nowMs = parts.clock.nowMs();
  const status = await findStatus(parts.store, exchange, issuers, certId.serialNumber);
  const answer = await sign(parts, exchange, [[certId, status]]);
  presigned.put(key, {
    answer,
    mount: { uuid: mount.uuid, local: mount.local },
    serialKey: toSerialKey(certId.serialNumber),
    authority,
    hasUnstored,
    signAgainAtMs: nowMs + authority.settings.crl.ocspExpirySeconds * 500,
    position,
  });
  return answer;
};

export const createOcspResponder = (parts: OcspParts): OcspResponder => {
  const { store, authorities, mayHaveUnstored } = parts;
  const presigned = new PresignedAnswers(parts);
  return {
    answer: async (mount, request) => {
      const position = await store.position();
      const authority = await authorities.of(mount);
      const [certId] = request.certIds;
      if (certId === undefined || authority.settings.crl.ocspDisable) return undefined;
      const issuers = findIssuers(authority, certId);
      const candidates =
        issuers.length > 0 ? issuers : authority.issuers.filter((one) => authority.isDefault(one));
      const responder = findResponder(candidates);
      if (responder === undefined) return undefined;
      const hasUnstored = await mayHaveUnstored(mount);
      const exchange = { mount, authority, hasUnstored, request, issuers, responder };
      return request.nonce === undefined && request.certIds.length === 1 && issuers.length > 0
        ? answerPresigned(parts, presigned, exchange, certId, position)
        : answerFresh(parts, exchange);
    },
    clear: () => presigned.clear(),
  };
};
