/**
 * The service that decides about certificates instead of roles: its address and the TLS trust settings
 * (reference §8.1).
 */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { decodePem, encodePem } from '@keelson/x509';
import { Type } from 'typebox';

export const policyServiceShape = Type.Object({
  enabled: Type.Boolean(),
  /** Empty when the value is not given. */
  url: Type.String(),
  timeoutSeconds: Type.Number(),
  /** PEM of the authorities its certificate may come from; empty when there is none. */
  trustedCa: Type.String(),
  /** PEM of the exact certificates it may present instead; empty when there is none. */
  trustedLeaves: Type.String(),
  /** PEM of the certificates and the private key shown to it. Secret; empty when there is none. */
  clientBundle: Type.String(),
  /** Expression that selects the data about the requester that is sent; empty when there is none. */
  entityExpression: Type.String(),
  groupExpression: Type.String(),
  /** 0 if it was never set. */
  updatedAtMs: Type.Number(),
});
export type PolicyService = Shaped<typeof policyServiceShape>;

export const NO_POLICY_SERVICE: PolicyService = {
  enabled: false,
  url: '',
  timeoutSeconds: 15,
  trustedCa: '',
  trustedLeaves: '',
  clientBundle: '',
  entityExpression: '',
  groupExpression: '',
  updatedAtMs: 0,
};

/** Longest timeout: a client does not wait longer than this for its own request. */
const MAX_TIMEOUT_SECONDS = 60;
const MAX_URL_LENGTH = 2048;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const checkUrl = (text: string): void => {
  const url = text.length <= MAX_URL_LENGTH && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.protocol !== 'https:')
    return refuse('external_service_url must be an https URL');
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    refuse('external_service_url must have neither credentials nor a fragment');
};

const readCertificates = (name: string, pem: string): readonly X509Certificate[] => {
  const blocks = decodePem(pem);
  if (blocks.length === 0 || blocks.some(({ label }) => label !== 'CERTIFICATE'))
    refuse(`${name} must hold PEM certificates and nothing else`);
  return blocks.map(({ der }) => {
    try {
      return new X509Certificate(der);
    } catch (cause) {
      throw new KeelsonError(
        'request.invalid',
        { text: `${name} holds a certificate that cannot be read` },
        { cause },
      );
    }
  });
};

/** Certificates and private key of a PEM text that holds both. */
const splitBundle = (pem: string) => {
  const blocks = decodePem(pem);
  const isKey = ({ label }: { readonly label: string }): boolean => label.endsWith('PRIVATE KEY');
  const textOf = (chosen: typeof blocks): string =>
    chosen.map(({ label, der }) => `${encodePem(label, der)}\n`).join('');
  return {
    certificates: textOf(blocks.filter((block) => !isKey(block))),
    key: textOf(blocks.filter(isKey)),
    keyCount: blocks.filter(isKey).length,
  };
};

const checkClientBundle = (pem: string): void => {
  const name = 'vault_client_cert_bundle';
  const { certificates, key, keyCount } = splitBundle(pem);
  if (keyCount !== 1) refuse(`${name} must hold exactly one private key`);
  const [leaf] = readCertificates(name, certificates);
  let fits = false;
  try {
    fits = leaf?.checkPrivateKey(createPrivateKey(key)) === true;
  } catch {
    // The cause is not kept: it could quote the key.
    refuse(`${name} holds a private key that cannot be read`);
  }
  if (!fits) refuse(`the private key of ${name} does not fit its first certificate`);
};

/**
 * A configuration that can work; an incomplete one only while it is not enabled.
 * @throws KeelsonError `request.invalid`, `pki.malformed`
 */
export const checkPolicyService = (service: PolicyService): PolicyService => {
  const { url, timeoutSeconds, trustedCa, trustedLeaves, clientBundle } = service;
  if (timeoutSeconds < 1 || timeoutSeconds > MAX_TIMEOUT_SECONDS)
    refuse(`timeout must be between 1 and ${MAX_TIMEOUT_SECONDS} seconds`);
  if (url !== '') checkUrl(url);
  if (trustedCa !== '' && trustedLeaves !== '')
    refuse('only one of trusted_ca and trusted_leaf_certificate_bundle may be set');
  if (trustedCa !== '') readCertificates('trusted_ca', trustedCa);
  if (trustedLeaves !== '') readCertificates('trusted_leaf_certificate_bundle', trustedLeaves);
  if (clientBundle !== '') checkClientBundle(clientBundle);
  if (service.enabled && url === '') refuse('external_service_url must be set to enable');
  if (service.enabled && trustedCa === '' && trustedLeaves === '')
    refuse('one of trusted_ca and trusted_leaf_certificate_bundle must be set to enable');
  return service;
};

/** The client bundle without its private key, for responses. */
export const withoutPrivateKey = (clientBundle: string): string =>
  splitBundle(clientBundle).certificates;

/** Certificates and keys for TLS connections to the service. */
export interface PolicyTrust {
  /** PEM. */
  readonly anchors: readonly string[];
  /** Undefined means by name, below the anchors; otherwise exactly one of these (DER). */
  readonly leaves: readonly Uint8Array[] | undefined;
  readonly client: { readonly certificates: string; readonly key: string } | undefined;
}

export const trustOf = ({ trustedCa, trustedLeaves, clientBundle }: PolicyService): PolicyTrust => {
  const ders = decodePem(trustedLeaves || trustedCa).map(({ der }) => der);
  const { certificates, key } = splitBundle(clientBundle);
  return {
    anchors: ders.map((der) => encodePem('CERTIFICATE', der)),
    leaves: trustedLeaves === '' ? undefined : ders,
    client: clientBundle === '' ? undefined : { certificates, key },
  };
};
