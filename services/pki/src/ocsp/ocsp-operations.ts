/** Answers requests for the status of certificates, signed by the issuer itself. */

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
import type { MountScope } from '../mounts/mount-records.ts';
import { findIssuers, findResponder } from './domain/certificate-issuers.ts';
import { findStatus, type StatusScope } from './ocsp-status-operations.ts';
import { type OcspParts, PresignedAnswers } from './presigned-answers.ts';

export interface OcspResponder {
  /** A signed answer, DER; undefined where this mount gives none (turned off, no issuer that may sign). */
  answer(mount: MountScope, request: OcspRequest): Promise<Uint8Array | undefined>;
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

const sign = ({ clock }: OcspParts, exchange: Exchange, answers: Statuses): Promise<Uint8Array> => {
  const { responder, request, authority } = exchange;
  const nowMs = Math.floor(clock.nowMs() / 1000) * 1000;
  const { ocspExpirySeconds } = authority.settings.crl;
  return createOcspResponse(
    {
      responderKeyHash: keyIdentifierOf(responder.certificate.publicKeyDer),
      producedAtMs: nowMs,
      thisUpdateMs: nowMs,
      nextUpdateMs: ocspExpirySeconds === 0 ? undefined : nowMs + ocspExpirySeconds * 1000,
      answers,
      extensions: request.nonce === undefined ? [] : [nonceExtension(request.nonce)],
    },
    responder.revocationSigner(),
  );
};

const answerFresh = async (parts: OcspParts, exchange: Exchange): Promise<Uint8Array> => {
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
): Promise<Uint8Array> => {
  const { mount, authority, hasUnstored, issuers } = exchange;
  const key = mount.uuid + Buffer.from(certId.der).toString('latin1');
  const known = await presigned.find(key);
  if (known !== undefined) return known;
  const nowMs = parts.clock.nowMs();
  const status = await findStatus(parts.store, exchange, issuers, certId.serialNumber);
  const der = await sign(parts, exchange, [[certId, status]]);
  presigned.put(key, {
    der,
    mount: { uuid: mount.uuid, local: mount.local },
    serialKey: toSerialKey(certId.serialNumber),
    authority,
    hasUnstored,
    signedAtMs: nowMs,
    signAgainAtMs: nowMs + authority.settings.crl.ocspExpirySeconds * 500,
    position,
  });
  return der;
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
