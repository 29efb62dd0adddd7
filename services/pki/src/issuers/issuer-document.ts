import type { JsonObject } from '@keelson/secrets-api';
import { reasonName, type SignatureScheme } from '@keelson/x509';
import { urlListsDocument } from '../authority-urls/authority-url-document.ts';
import { NO_URLS } from '../authority-urls/domain/authority-urls.ts';
import { revokersDocument } from '../certificates/revocation-document.ts';
import { formatTime } from '../validity/domain/lifetime.ts';
import type { Authority, IssuerInUse } from './domain/authority.ts';
import { CHAIN_CHECKS } from './domain/issuer.ts';

/** Names of signature schemes that clients know. */
const SCHEME_NAMES: Readonly<Record<SignatureScheme, string>> = {
  'rsa-sha256': 'SHA256WithRSA',
  'rsa-sha384': 'SHA384WithRSA',
  'rsa-sha512': 'SHA512WithRSA',
  'rsa-pss-sha256': 'SHA256WithRSAPSS',
  'rsa-pss-sha384': 'SHA384WithRSAPSS',
  'rsa-pss-sha512': 'SHA512WithRSAPSS',
  'ecdsa-sha256': 'ECDSAWithSHA256',
  'ecdsa-sha384': 'ECDSAWithSHA384',
  'ecdsa-sha512': 'ECDSAWithSHA512',
  ed25519: 'Ed25519',
};

/** The scheme of a name in any case; undefined for unknown names. */
export const findScheme = (name: string): SignatureScheme | undefined => {
  const wanted = name.toLowerCase() === 'pureed25519' ? 'ed25519' : name.toLowerCase();
  const entries = Object.entries(SCHEME_NAMES) as [SignatureScheme, string][];
  return entries.find(([, known]) => known.toLowerCase() === wanted)?.[0];
};

export const issuerDocument = (authority: Authority, found: IssuerInUse): JsonObject => {
  const { issuer, pem } = found;
  return {
    ca_chain: authority.chainOf(found).map((member) => member.pem),
    certificate: pem,
    issuer_id: issuer.id,
    issuer_name: issuer.name,
    key_id: issuer.keyId,
    leaf_not_after_behavior: issuer.leafNotAfterBehavior,
    manual_chain: issuer.manualChain.length === 0 ? null : issuer.manualChain,
    usage: issuer.usages.toSorted().join(','),
    revocation_signature_algorithm:
      issuer.revocationScheme === undefined ? '' : SCHEME_NAMES[issuer.revocationScheme],
    ...Object.fromEntries(
      CHAIN_CHECKS.map((check) => [
        `disable_${check}_checks`,
        issuer.disabledChecks?.includes(check) ?? false,
      ]),
    ),
    revoked: issuer.revokedAtMs !== undefined,
    ...(issuer.revokedAtMs !== undefined && {
      revocation_time: issuer.revokedAtMs / 1000,
      revocation_time_rfc3339: formatTime(issuer.revokedAtMs),
      revocation_reason: reasonName(issuer.revocationReason),
      ...revokersDocument(issuer),
    }),
    ...urlListsDocument(issuer.urls ?? NO_URLS),
    ...(issuer.urls !== undefined && { enable_aia_url_templating: issuer.urls.enableTemplating }),
  };
};
