/** Resources that are read without a signature: the directory and nonces. */

import type { AcmeSettings } from '../config/acme-settings.ts';
import { directoryDocument } from './directory-document.ts';
import { type OpenResource } from './open-resource.ts';

export const directoryResources = (
  settings: Pick<AcmeSettings, 'acmeTermsOfService'>,
): readonly OpenResource[] => [
  {
    path: 'directory',
    summary: 'The resources of this directory (RFC 8555 §7.1.1)',
    method: 'GET',
    hasNonce: false,
    isReadSigned: true,
    handle: ({ directory: { urls, config, profiles } }) => ({
      body: directoryDocument(urls, {
        externalAccountRequired: config.eabPolicy !== 'not-required',
        profiles,
        termsOfService: settings.acmeTermsOfService,
      }),
    }),
  },
  {
    path: 'new-nonce',
    summary: 'A nonce (RFC 8555 §7.2)',
    method: 'GET',
    hasNonce: true,
    isReadSigned: true,
    handle: () => ({ status: 204 }),
  },
  {
    path: 'new-nonce',
    summary: 'A nonce (RFC 8555 §7.2)',
    method: 'HEAD',
    hasNonce: true,
    handle: () => ({ status: 200 }),
  },
];
