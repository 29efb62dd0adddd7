/**
 * Locations of issuer certificates, OCSP responders and CRLs: authority information access and CRL
 * distribution points (RFC 5280 §4.2.1.13, §4.2.2.1).
 */
import { DerReader } from '../der/der-reader.ts';
import { contextTag, explicit, sequence } from '../der/der-types.ts';
import { constructed, type Der } from '../der/der-writer.ts';
import { objectIdentifier } from '../der/object-identifier.ts';
import { generalName } from '../names/general-name.ts';
import { EXTENSION, type Extension, extension } from './extension.ts';

const OCSP_METHOD = '1.3.6.1.5.5.7.48.1';
const CA_ISSUERS_METHOD = '1.3.6.1.5.5.7.48.2';

const uri = (value: string): Der => generalName({ kind: 'uri', value });

/** RFC 5280 §4.2.2.1: OCSP responders first, then certificates of the issuer. */
export const authorityInformationAccess = (
  ocspUrls: readonly string[],
  issuerUrls: readonly string[],
): Extension =>
  extension(
    EXTENSION.authorityInformationAccess,
    sequence(
      ...ocspUrls.map((url) => sequence(objectIdentifier(OCSP_METHOD), uri(url))),
      ...issuerUrls.map((url) => sequence(objectIdentifier(CA_ISSUERS_METHOD), uri(url))),
    ),
  );

const URI_TAG = contextTag(6, 'primitive');

/**
 * The addresses of OCSP responders in the value of an authority information access extension.
 * @throws KeelsonError `pki.malformed`
 */
export const parseOcspUrls = (value: Uint8Array): readonly string[] => {
  const outer = new DerReader(value);
  const descriptions = outer.enter();
  outer.expectEnd();
  const urls: string[] = [];
  while (!descriptions.atEnd) {
    const description = descriptions.enter();
    const method = description.readObjectIdentifier();
    const { tag, content } = description.read();
    description.expectEnd();
    if (method === OCSP_METHOD && tag === URI_TAG)
      urls.push(Buffer.from(content).toString('latin1'));
  }
  return urls;
};

/** One DistributionPoint per URL, each with a fullName of one URI. */
const distributionPoints = (urls: readonly string[]): Der =>
  sequence(
    ...urls.map((url) =>
      sequence(explicit(0, constructed(contextTag(0, 'constructed'), [uri(url)]))),
    ),
  );

/** RFC 5280 §4.2.1.13. */
export const crlDistributionPoints = (urls: readonly string[]): Extension =>
  extension(EXTENSION.crlDistributionPoints, distributionPoints(urls));

/** RFC 5280 §4.2.1.15: the addresses of delta lists. */
export const freshestCrl = (urls: readonly string[]): Extension =>
  extension(EXTENSION.freshestCrl, distributionPoints(urls));
