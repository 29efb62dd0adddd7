/** Issuing decided by an external service instead of a role (reference §8). */

import { createPrivateKey, randomUUID } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import {
  chooseSignatureScheme,
  createCsr,
  createKeyPair,
  createSigner,
  describeKey,
  encodeName,
  type KeyAlgorithm,
  type KeyPair,
  parsePublicKey,
  randomSerialNumber,
} from '@keelson/x509';
import { NO_URLS } from '../authority-urls/domain/authority-urls.ts';
import type { Authority, IssuerInUse } from '../issuers/domain/authority.ts';
import { type NewCertificate, signChecked } from '../issuing/build-certificate.ts';
import {
  type IssuedCertificate,
  type IssuingMount,
  type IssuingParts,
  requireSigner,
  storeCertificate,
} from '../issuing/signing-operations.ts';
import { checkKeySize } from '../keys/domain/key-size.ts';
import { type PolicyAnswer, parsePolicyAnswer } from './domain/policy-answer.ts';
import { buildFromTemplate, schemeOfTemplate } from './domain/policy-certificate.ts';
import { encodeQuestion, type IssuanceMode, type PolicyQuestion } from './domain/policy-request.ts';
import type { PolicyService } from './domain/policy-service.ts';
import type { PolicyCalls } from './policy-calls.ts';
import { loadPolicyService } from './policy-service-records.ts';

export interface PolicyParts extends IssuingParts {
  readonly policyCalls: PolicyCalls;
  readonly isPerformanceSecondary: () => boolean;
}

export interface PolicyMount extends IssuingMount {
  /** "pki/". */
  readonly path: string;
}

/** The part of the requester's identity that the mount's expressions choose. */
type IdentityOf = (service: PolicyService) => PolicyQuestion['identity'];

export interface PolicyIssuing {
  readonly mount: PolicyMount;
  readonly namespacePath: string;
  readonly policyName: string;
  /** From the path; undefined means the default, if there is one. */
  readonly issuerRef: string | undefined;
  /** The longest lifetime that a decision may assign; undefined if it is not limited. */
  readonly maxTtlSeconds: number | undefined;
  readonly userValues: PolicyQuestion['userValues'];
  readonly identityOf: IdentityOf;
  /** Refuses a certificate with a lease where a quota has no room for one; absent for those that never have one. */
  readonly requireLeaseRoom?: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** A request for a certificate whose key is known. */
export interface DecisionRequest extends PolicyIssuing {
  readonly mode: IssuanceMode;
  readonly csrDer: Uint8Array;
  readonly publicKeyDer: Uint8Array;
  readonly acme?: PolicyQuestion['acme'];
}

/** A signed certificate that was decided by the service and is not stored yet. */
export interface DecidedCertificate {
  readonly made: NewCertificate;
  readonly authority: Authority;
  readonly issuer: IssuerInUse;
  readonly answer: PolicyAnswer;
}

/** @throws KeelsonError `pki.policy_disabled` */
const requireEnabled = async (
  { store }: PolicyParts,
  { mount }: PolicyIssuing,
): Promise<PolicyService> => {
  const service = await loadPolicyService(store, mount);
  if (!service.enabled) throw new KeelsonError('pki.policy_disabled');
  return service;
};

/** The requested issuer. If the request names none and the mount has no default, the service may choose. */
const findRequestedIssuer = (
  authority: Authority,
  { issuerRef }: PolicyIssuing,
): IssuerInUse | undefined => {
  if (issuerRef === undefined && authority.defaultIssuer === undefined) return undefined;
  return requireSigner(authority, issuerRef ?? 'default');
};

/** The issuer of the answer. If it does not exist, that is an error of the service, not of the client. */
const chosenIssuer = (authority: Authority, { issuerRef }: PolicyAnswer): IssuerInUse => {
  if (authority.findIssuer(issuerRef) === undefined)
    throw new KeelsonError('pki.policy_unusable', { text: 'issuer_ref names no issuer' });
  return requireSigner(authority, issuerRef);
};

/**
 * Asks the policy service, and signs the certificate it decided if the rules allow it.
 * @throws KeelsonError `pki.policy_…`, `pki.lint_failed`, `request.invalid`
 */
export const decideCertificate = async (
  parts: PolicyParts,
  request: DecisionRequest,
): Promise<DecidedCertificate> => {
  const { mount, mode, publicKeyDer } = request;
  const service = await requireEnabled(parts, request);
  checkKeySize(describeKey(parsePublicKey(publicKeyDer)));
  const asked = await parts.authorities.of(mount);
  const requestedIssuer = findRequestedIssuer(asked, request);
  const requestUuid = randomUUID();
  const question = encodeQuestion({
    requestUuid,
    mode,
    policyName: request.policyName,
    mountPath: mount.path,
    namespacePath: request.namespacePath,
    defaultTtlSeconds: mount.defaultLeaseTtlSeconds,
    maxTtlSeconds: mount.maxLeaseTtlSeconds,
    isPerformanceSecondary: !mount.local && parts.isPerformanceSecondary(),
    issuer: requestedIssuer,
    urls: requestedIssuer === undefined ? NO_URLS : asked.urlsOf(requestedIssuer),
    csrDer: request.csrDer,
    userValues: request.userValues,
    identity: request.identityOf(service),
    acme: request.acme,
  });
  const answer = await parts.policyCalls.ask(
    mount,
    service,
    question,
    (bytes) => parsePolicyAnswer(bytes, requestUuid),
    request.signal,
  );
  // Issuers may have changed while the service was deciding.
  const authority = await parts.authorities.of(mount);
  const issuer = chosenIssuer(authority, answer);
  const signing = authority.signingIssuerOf(issuer);
  const { template, warnings } = answer;
  const nowMs = parts.clock.nowMs();
  const fields = buildFromTemplate({
    template,
    publicKeyDer,
    mode,
    nowMs,
    lastMs: nowMs + (request.maxTtlSeconds ?? Number.POSITIVE_INFINITY) * 1000,
    serialNumber: randomSerialNumber(),
    issuer: signing,
  });
  const scheme = schemeOfTemplate(template, describeKey(signing.privateKey));
  const der = await signChecked(signing, fields, scheme);
  const { serialNumber, notAfterMs } = fields;
  return {
    made: { der, serialNumber, notAfterMs, keyPair: undefined, warnings },
    authority,
    issuer,
    answer,
  };
};

const keepDecided = (
  parts: PolicyParts,
  { mount, requireLeaseRoom }: PolicyIssuing,
  { made, authority, issuer, answer }: DecidedCertificate,
  keyPair?: KeyPair,
): Promise<IssuedCertificate> =>
  storeCertificate(
    parts,
    { mount, roleName: '', metadata: '', requireLeaseRoom },
    {
      ...made,
      keyPair,
      authority,
      issuer,
      role: {
        noStore: !answer.storesCertificate,
        noStoreMetadata: true,
        generateLease: answer.generatesLease,
      },
    },
  );

/** A request that contains its key only, and proves possession of it. */
const emptyCsr = ({ publicKeyDer, privateKeyDer }: KeyPair): Promise<Uint8Array> => {
  const key = createPrivateKey({
    key: Buffer.from(privateKeyDer),
    format: 'der',
    type: 'pkcs8',
  });
  const signer = createSigner(key, chooseSignatureScheme(describeKey(key)));
  return createCsr({ subject: encodeName([]), publicKeyDer, extensions: [] }, signer);
};

/** Makes a key, which is never sent to the policy service, and a certificate for it. */
export const issueUnderPolicy = async (
  parts: PolicyParts,
  request: PolicyIssuing,
  key: KeyAlgorithm,
): Promise<IssuedCertificate> => {
  // Checked before generating a key of up to 8192 bits.
  await requireEnabled(parts, request);
  const keyPair = await createKeyPair(key);
  const decided = await decideCertificate(parts, {
    ...request,
    mode: 'issue',
    csrDer: await emptyCsr(keyPair),
    publicKeyDer: keyPair.publicKeyDer,
  });
  return keepDecided(parts, request, decided, keyPair);
};

/** Signs for the key of a CSR. */
export const signUnderPolicy = async (
  parts: PolicyParts,
  request: Omit<DecisionRequest, 'acme'>,
): Promise<IssuedCertificate> => {
  await parts.compromisedKeys.refuse(request.mount, () => request.publicKeyDer);
  return keepDecided(parts, request, await decideCertificate(parts, request));
};
