/** Answers requests for the status of certificates, signed by the issuer itself. */
import type { Clock } from '@keelson/clock';
import type { Store } from '@keelson/storage';
import {
  type CertId,
  type CertificateStatus,
  createOcspResponse,
  keyIdentifierOf,
  nonceExtension,
  type OcspRequest,
  toSerialKey,
} from '@keelson/x509';
import { certificatesPrefix, revocationRecords } from '../certificates/certificate-records.ts';
import { clusterRevocationsOf } from '../clusters/cluster-records.ts';
import type { IssuerInUse } from '../issuers/domain/authority.ts';
import type { Authorities } from '../issuers/issuer-records.ts';
import type { MountScope } from '../mounts/mount-records.ts';
import { findIssuers, findResponder } from './domain/certificate-issuers.ts';
import { createUnstoredView, findStatus, type StatusScope } from './ocsp-status-operations.ts';
import { PresignedAnswers } from './presigned-answers.ts';

export interface OcspParts {
  readonly store: Store;
  readonly authorities: Authorities;
  readonly clock: Clock;
}

export interface OcspAnswer {
  readonly der: Uint8Array;
  /** Whether the same request would get the same bytes now; absent where each answer is made anew. */
  readonly stands?: () => Promise<boolean>;
}

export interface OcspResponder {
  /** A signed answer; undefined where this mount gives none (turned off, no issuer that may sign). */
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
    // One signature answers for one issuer: for certificates of others it would not count.
    const own = named[0] === issuers[0] ? named : [];
    statuses.push([certId, await findStatus(parts.store, exchange, own, certId.serialNumber)]);
  }
  return sign(parts, exchange, statuses);
};

const isSame = (one: CertificateStatus, other: CertificateStatus): boolean =>
  one.kind === other.kind &&
  (one.kind !== 'revoked' || one.revokedAtMs === (other as typeof one).revokedAtMs);

/** Records whose change may change the status of a certificate. */
const statusPaths = (mount: MountScope, serialKey: string): readonly string[] => [
  certificatesPrefix(mount) + serialKey,
  revocationRecords(mount).path(serialKey),
  clusterRevocationsOf(mount, serialKey),
];

export const createOcspResponder = (parts: OcspParts): OcspResponder => {
  const { store, authorities, clock } = parts;
  const presigned = new PresignedAnswers();
  const hasUnstoredRoles = createUnstoredView(store);

  const stands = async (key: string, der: Uint8Array): Promise<boolean> => {
    const known = presigned.find(key);
    if (known?.der !== der || clock.nowMs() >= known.signAgainAtMs) return false;
    const position = await store.position();
    // Mostly nothing at all was committed since it was looked at last.
    if (position === known.position) return true;
    const { mount, serialKey } = known;
    const isUnchanged =
      (await authorities.of(mount)) === known.authority &&
      (await hasUnstoredRoles(mount)) === known.hasUnstored &&
      !store.hasChangedSince(statusPaths(mount, serialKey), known.position);
    // Two that look at once: the later position must not be taken back.
    if (isUnchanged) known.position = Math.max(known.position, position);
    return isUnchanged;
  };

  /** What lives on with the answer: nothing through which keys could be reached. */
  const presignedAnswer = (key: string, der: Uint8Array): OcspAnswer => ({
    der,
    stands: () => stands(key, der),
  });

  const answerPresigned = async (
    exchange: Exchange,
    certId: CertId,
    // Before the reads: what changes during them counts as changed.
    position: number,
  ): Promise<OcspAnswer> => {
    const { mount, authority, hasUnstored, issuers } = exchange;
    const key = mount.uuid + Buffer.from(certId.der).toString('latin1');
    const known = presigned.find(key);
    if (known !== undefined && (await stands(key, known.der)))
      return presignedAnswer(key, known.der);
    const nowMs = clock.nowMs();
    const status = await findStatus(store, exchange, issuers, certId.serialNumber);
    if (
      known?.authority === authority &&
      known.hasUnstored === hasUnstored &&
      nowMs < known.signAgainAtMs &&
      isSame(known.status, status)
    ) {
      known.position = Math.max(known.position, position);
      return presignedAnswer(key, known.der);
    }
    const der = await sign(parts, exchange, [[certId, status]]);
    presigned.put(key, {
      der,
      mount: { uuid: mount.uuid, local: mount.local },
      serialKey: toSerialKey(certId.serialNumber),
      status,
      authority,
      hasUnstored,
      signAgainAtMs: nowMs + authority.settings.crl.ocspExpirySeconds * 500,
      position,
    });
    return presignedAnswer(key, der);
  };

  return {
    answer: async (mount, request) => {
      const position = await store.position();
      const authority = await authorities.of(mount);
      const [certId] = request.certIds;
      if (certId === undefined || authority.settings.crl.ocspDisable) return undefined;
      const issuers = findIssuers(authority, certId);
      const { defaultIssuer } = authority;
      const candidates =
        issuers.length > 0 || defaultIssuer === undefined ? issuers : [defaultIssuer];
      const responder = findResponder(candidates);
      if (responder === undefined) return undefined;
      const hasUnstored = await hasUnstoredRoles(mount);
      const exchange = { mount, authority, hasUnstored, request, issuers, responder };
      return request.nonce === undefined && request.certIds.length === 1 && issuers.length > 0
        ? answerPresigned(exchange, certId, position)
        : { der: await answerFresh(parts, exchange) };
    },
    clear: () => presigned.clear(),
  };
};
