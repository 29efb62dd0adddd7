/** An issuer with its parsed certificate and its private key. */
import type { KeyObject } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import {
  ATTRIBUTE,
  attributeValues,
  chooseSignatureScheme,
  createSigner,
  describeKey,
  EXTENSION,
  encodePem,
  findExtension,
  isSignedBy,
  keyIdentifierOf,
  type ParsedCertificate,
  parseBasicConstraints,
  parseCertificate,
  parseName,
  parseSubjectKeyIdentifier,
  type SchemeChoice,
  type SignatureScheme,
  type Signer,
  toSerialHex,
} from '@keelson/x509';
import type { Issuer, IssuerUsage } from './issuer.ts';

export class IssuerInUse {
  readonly issuer: Issuer;
  readonly certificate: ParsedCertificate;
  readonly pem: string;
  readonly serialHex: string;
  /** "" without one. */
  readonly commonName: string;
  readonly keyIdentifier: Uint8Array;
  readonly isSelfSigned: boolean;
  readonly pathLength: number | undefined;
  readonly #privateKey: KeyObject | undefined;
  readonly #refuseDamagedKey: () => void;

  /** @param refuseDamagedKey throws when the key cannot be decrypted */
  constructor(issuer: Issuer, privateKey: KeyObject | undefined, refuseDamagedKey: () => void) {
    this.issuer = issuer;
    this.certificate = parseCertificate(Buffer.from(issuer.certificate, 'base64'));
    this.pem = encodePem('CERTIFICATE', this.certificate.der);
    this.serialHex = toSerialHex(this.certificate.serialNumber);
    const { extensions, publicKeyDer, subject } = this.certificate;
    this.commonName = attributeValues(parseName(subject), ATTRIBUTE.commonName)[0] ?? '';
    const skid = findExtension(extensions, EXTENSION.subjectKeyIdentifier);
    this.keyIdentifier = skid
      ? parseSubjectKeyIdentifier(skid.value)
      : keyIdentifierOf(publicKeyDer);
    const constraints = findExtension(extensions, EXTENSION.basicConstraints);
    this.pathLength = constraints && parseBasicConstraints(constraints.value).pathLength;
    this.isSelfSigned =
      Buffer.from(subject).equals(this.certificate.issuer) &&
      isSignedBy(this.certificate, publicKeyDer);
    this.#privateKey = privateKey;
    this.#refuseDamagedKey = refuseDamagedKey;
  }

  get hasKey(): boolean {
    return this.#privateKey !== undefined;
  }

  /** @throws KeelsonError `request.invalid` when the key is missing or the usage is not granted */
  requireUsage(usage: IssuerUsage): void {
    this.requirePrivateKey();
    if (!this.issuer.usages.includes(usage))
      throw new KeelsonError('request.invalid', {
        text: `could not fetch the CA certificate (was one set?): requested usage ${usage} for issuer [${this.issuer.id}] but only had usage [${this.issuer.usages.join(',')}]`,
      });
  }

  /** @throws KeelsonError `request.invalid` */
  signer(choice: SchemeChoice = {}): Signer {
    const key = this.requirePrivateKey();
    return createSigner(key, chooseSignatureScheme(describeKey(key), choice));
  }

  /** The signer of revocation lists. */
  revocationSigner(): Signer {
    const scheme: SignatureScheme | undefined = this.issuer.revocationScheme;
    return scheme === undefined ? this.signer() : createSigner(this.requirePrivateKey(), scheme);
  }

  /** @throws KeelsonError `request.invalid`, `barrier.damaged_value` */
  requirePrivateKey(): KeyObject {
    if (this.#privateKey !== undefined) return this.#privateKey;
    this.#refuseDamagedKey();
    throw new KeelsonError('request.invalid', {
      text: `could not fetch the CA certificate (was one set?): issuer ${this.issuer.id} has no private key`,
    });
  }
}
