/** Issuing where an external service decides instead of a role (reference §8). */
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
import { checkKeySize } from '../issuing/domain/key-rules.ts';
import {
  type IssuedCertificate,
  type IssuingMount,
  type IssuingParts,
  keepCertificate,
  requireSigner,
} from '../issuing/signing-operations.ts';
import { type MadeCertificate, signChecked } from '../making/make-certificate.ts';
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

/** What the requester may be told of, once it is known what the mount tells. */
type IdentityOf = (service: PolicyService) => PolicyQuestion['identity'];

export interface PolicyIssuing {
  readonly mount: PolicyMount;
  readonly namespacePath: string;
  readonly policyName: string;
  /** From the path; undefined: the default, if there is one. */
  readonly issuerRef: string | undefined;
  readonly userValues: PolicyQuestion['userValues'];
  readonly identityOf: IdentityOf;
  readonly signal: AbortSignal;
}

/** A request for a certificate whose key is known. */
export interface DecisionRequest extends PolicyIssuing {
  readonly mode: IssuanceMode;
  readonly csrDer: Uint8Array;
  readonly publicKeyDer: Uint8Array;
  readonly acme?: PolicyQuestion['acme'];
}

/** A certificate as it was decided, signed and not yet kept. */
export interface DecidedCertificate {
  readonly made: MadeCertificate;
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

/** The issuer that is asked for; the service may choose where none is and the mount has no default. */
const requestedIssuer = (
  authority: Authority,
  { issuerRef }: PolicyIssuing,
): IssuerInUse | undefined => {
  if (issuerRef === undefined && authority.defaultIssuer === undefined) return undefined;
  return requireSigner(authority, issuerRef ?? 'default');
};

/** The issuer of the answer. That there is none such is the service's mistake, not the client's. */
const chosenIssuer = (authority: Authority, { issuerRef }: PolicyAnswer): IssuerInUse => {
  if (authority.findIssuer(issuerRef) === undefined)
    throw new KeelsonError('pki.policy_unusable', { text: 'issuer_ref names no issuer' });
  return requireSigner(authority, issuerRef);
};

/**
 * Asks the policy service, and signs what it wants if that may be signed.
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
  const issuerAskedFor = requestedIssuer(asked, request);
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
    issuer: issuerAskedFor,
    urls: issuerAskedFor === undefined ? NO_URLS : asked.urlsOf(issuerAskedFor),
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
  // Issuers may have changed while the service was thinking.
  const authority = await parts.authorities.of(mount);
  const issuer = chosenIssuer(authority, answer);
  const signing = authority.signingIssuerOf(issuer);
  const { template, warnings } = answer;
  const fields = buildFromTemplate({
    template,
    publicKeyDer,
    mode,
    nowMs: parts.clock.nowMs(),
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
  { mount }: PolicyIssuing,
  { made, authority, issuer, answer }: DecidedCertificate,
  keyPair?: KeyPair,
): Promise<IssuedCertificate> =>
  keepCertificate(
    parts,
    { mount, roleName: '', metadata: '' },
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

/** A request that says nothing but which key it is for, and proves that somebody has it. */
const emptyCsr = ({ publicKeyDer, privateKeyDer }: KeyPair): Promise<Uint8Array> => {
  const key = createPrivateKey({
    key: Buffer.from(privateKeyDer),
    format: 'der',
    type: 'pkcs8',
  });
  const signer = createSigner(key, chooseSignatureScheme(describeKey(key)));
  return createCsr({ subject: encodeName([]), publicKeyDer, extensions: [] }, signer);
};

/** Makes a key, which never leaves for the policy service, and a certificate for it. */
export const issueUnderPolicy = async (
  parts: PolicyParts,
  request: PolicyIssuing,
  key: KeyAlgorithm,
): Promise<IssuedCertificate> => {
  // A key of 8192 bits is not made for nobody.
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
