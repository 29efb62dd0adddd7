/** CA certificates and keys in one PEM text, in any order (reference §2.5). */

import { KeelsonError } from '@keelson/errors';
import {
  EXTENSION,
  findExtension,
  type KeyPair,
  type ParsedCertificate,
  type PemBlock,
  parseBasicConstraints,
  parseCertificate,
  parsePrivateKey,
  parsePublicKey,
  readPemBlocks,
} from '@keelson/x509';
import { checkKeySize } from '../../keys/domain/key-size.ts';

export interface ImportBundle {
  readonly certificates: readonly ParsedCertificate[];
  readonly keys: readonly KeyPair[];
}

const CERTIFICATE_LABELS = ['CERTIFICATE', 'X509 CERTIFICATE'];
/** Lists are not imported; curve parameters are repeated in the key. */
const IGNORED_LABELS = ['CRL', 'X509 CRL', 'EC PARAMS', 'EC PARAMETERS'];

const refuse = (text: string, cause?: unknown): never => {
  throw new KeelsonError('request.invalid', { text }, { cause });
};

const readBlocks = (pem: string): readonly PemBlock[] => {
  const blocks: PemBlock[] = [];
  try {
    for (const block of readPemBlocks(pem)) blocks.push(block);
  } catch (error) {
    if (!(error instanceof KeelsonError)) throw error;
    refuse(`error when parsing block ${blocks.length + 1}: invalid PEM data`, error);
  }
  if (blocks.length === 0) refuse('error when parsing block 1: invalid PEM data');
  return blocks;
};

const parseCaCertificate = ({ der }: PemBlock): ParsedCertificate => {
  const certificate = parseCertificate(der);
  const constraints = findExtension(certificate.extensions, EXTENSION.basicConstraints);
  if (constraints === undefined || !parseBasicConstraints(constraints.value).isCa)
    refuse('Refusing to import non-CA certificate');
  parsePublicKey(certificate.publicKeyDer);
  return certificate;
};

const parseKey = ({ der }: PemBlock): KeyPair => {
  const pair = parsePrivateKey(der);
  checkKeySize(pair.algorithm);
  return pair;
};

const parseEach = <T>(
  kind: 'key' | 'issuer',
  blocks: readonly PemBlock[],
  parse: (block: PemBlock) => T,
): readonly T[] =>
  blocks.map((block, index) => {
    try {
      return parse(block);
    } catch (error) {
      if (!(error instanceof KeelsonError)) throw error;
      return refuse(`Error parsing ${kind} ${index}: ${error.message}`, error);
    }
  });

/**
 * Everything in the text. A certificate is accepted without checking its signature: who may import
 * decides which certificates the mount trusts.
 * @throws KeelsonError `request.invalid`
 */
export const parseImportBundle = (pem: string): ImportBundle => {
  const blocks = readBlocks(pem).filter(({ label }) => !IGNORED_LABELS.includes(label));
  const isCertificate = ({ label }: PemBlock): boolean => CERTIFICATE_LABELS.includes(label);
  return {
    certificates: parseEach('issuer', blocks.filter(isCertificate), parseCaCertificate),
    keys: parseEach(
      'key',
      blocks.filter((block) => !isCertificate(block)),
      parseKey,
    ),
  };
};

/** @throws KeelsonError `request.invalid` for a text too short to be PEM of anything */
export const checkPemLength = (pem: string, minimum: number): void => {
  if (pem.length < minimum)
    refuse(
      'provided data for import was too short; perhaps a path was passed to the API rather than the contents of a PEM file',
    );
};
