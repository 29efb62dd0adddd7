/** Revocation over HTTP (RFC 8555 §7.6). */
import type { RevocationParts } from '../../revocation/revocation-operations.ts';
import { base64UrlOf, parsePayload, type SignedRequest } from '../accounts/signed-request.ts';
import type { SignedResource } from '../accounts/signed-resource.ts';
import type { AcmeAnswer } from '../answers/acme-answer.ts';
import type { AcmeRequest } from '../directories/open-resource.ts';
import { revokeByAcme } from './acme-revocation-operations.ts';

const revoke = async (
  parts: RevocationParts,
  { directory }: AcmeRequest,
  signed: SignedRequest,
): Promise<AcmeAnswer> => {
  const { signer, key } = signed;
  const { certificate: presented, reason } = parsePayload(signed);
  await revokeByAcme(parts, {
    mount: directory.mount,
    certificateDer: base64UrlOf(presented, 'certificate'),
    reason,
    signer,
    signerKeyDer: key.der,
  });
  return {};
};

export const revocationResources = (parts: RevocationParts): readonly SignedResource[] => [
  {
    path: 'revoke-cert',
    summary: 'Revoke a certificate (RFC 8555 §7.6)',
    signer: 'either',
    handle: (request, signed) => revoke(parts, request, signed),
  },
];
