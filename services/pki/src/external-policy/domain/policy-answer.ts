/** The decision of the policy service, parsed from untrusted bytes (reference §8.3). */
import { KeelsonError } from '@keelson/errors';
import { decodePem, type ParsedCertificate, parseCertificate } from '@keelson/x509';

/** The certificate to issue, signed with any key: the signature is replaced. */
export interface PolicyAnswer {
  readonly template: ParsedCertificate;
  readonly issuerRef: string;
  readonly warnings: readonly string[];
  readonly storesCertificate: boolean;
  readonly generatesLease: boolean;
}

const MAX_TEXT_LENGTH = 4096;
const MAX_CERTIFICATE_LENGTH = 512 * 1024;
const MAX_WARNING_COUNT = 64;

const unusable = (text: string): KeelsonError => new KeelsonError('pki.policy_unusable', { text });

type Members = Readonly<Record<string, unknown>>;

const readText = (members: Members, name: string, limit = MAX_TEXT_LENGTH): string => {
  const value = members[name] ?? '';
  if (typeof value !== 'string') throw unusable(`${name} is not a string`);
  if (value.length > limit) throw unusable(`${name} is longer than ${limit} characters`);
  return value;
};

const readFlag = (members: Members, name: string): boolean => {
  const value = members[name] ?? false;
  if (typeof value !== 'boolean') throw unusable(`${name} is not a boolean`);
  return value;
};

const readWarnings = (members: Members): readonly string[] => {
  const values = members['warnings'] ?? [];
  if (!Array.isArray(values)) throw unusable('warnings is not a list');
  if (values.length > MAX_WARNING_COUNT)
    throw unusable(`warnings has more than ${MAX_WARNING_COUNT} elements`);
  return values.map((value: unknown) => readText({ warnings: value }, 'warnings'));
};

const MEMBERS: ReadonlySet<string> = new Set([
  'request_uuid',
  'error',
  'certificate',
  'warnings',
  'issuer_ref',
  'store_certificate',
  'generate_lease',
]);

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

const readMembers = (bytes: Uint8Array): Members => {
  let document: unknown;
  try {
    document = JSON.parse(strictUtf8.decode(bytes));
  } catch {
    throw unusable('it is not JSON');
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw unusable('it is not a JSON object');
  // An unknown member might be essential, so it is refused.
  if (Object.keys(document).some((name) => !MEMBERS.has(name)))
    throw unusable('it has unknown members');
  return document as Members;
};

const readTemplate = (pem: string): ParsedCertificate => {
  try {
    const [block, ...more] = decodePem(pem);
    if (block?.label !== 'CERTIFICATE' || more.length > 0)
      throw unusable('certificate is not one PEM certificate');
    return parseCertificate(block.der);
  } catch (error) {
    if (!(error instanceof KeelsonError) || error.code !== 'pki.malformed') throw error;
    throw new KeelsonError(
      'pki.policy_unusable',
      { text: `certificate cannot be read: ${error.message}` },
      { cause: error },
    );
  }
};

/**
 * @param requestUuid id of the request; an answer with another id is refused
 * @throws KeelsonError `pki.policy_refused` with the service's own words; `pki.policy_unusable`
 */
export const parsePolicyAnswer = (bytes: Uint8Array, requestUuid: string): PolicyAnswer => {
  const members = readMembers(bytes);
  if (readText(members, 'request_uuid') !== requestUuid)
    throw unusable('request_uuid is not that of the request');
  const error = readText(members, 'error');
  const certificate = readText(members, 'certificate', MAX_CERTIFICATE_LENGTH);
  if (certificate === '' && error !== '')
    throw new KeelsonError('pki.policy_refused', { text: error });
  if (certificate === '') throw unusable('it has neither a certificate nor an error');
  const issuerRef = readText(members, 'issuer_ref');
  if (issuerRef === '') throw unusable('issuer_ref is missing');
  const storesCertificate = readFlag(members, 'store_certificate');
  const generatesLease = readFlag(members, 'generate_lease');
  if (generatesLease && !storesCertificate)
    throw unusable('generate_lease needs store_certificate');
  return {
    template: readTemplate(certificate),
    issuerRef,
    warnings: [...readWarnings(members), ...(error === '' ? [] : [error])],
    storesCertificate,
    generatesLease,
  };
};
