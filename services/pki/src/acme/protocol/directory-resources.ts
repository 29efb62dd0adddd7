/** Resources that are read without a signature: the directory, nonces, renewal information. */
import type { Clock } from '@keelson/clock';
import type { Store } from '@keelson/storage';
import type { PkiConfig } from '../../config.ts';
import { formatTime } from '../../issuing/domain/lifetime.ts';
import { findRenewalWindow } from '../renewal/renewal-operations.ts';
import { directoryDocument } from './acme-document.ts';
import type { OpenResource } from './acme-routes.ts';

export const openResources = (parts: {
  readonly store: Store;
  readonly clock: Clock;
  readonly config: Pick<PkiConfig, 'acmeTermsOfService'>;
}): readonly OpenResource[] => [
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
        termsOfService: parts.config.acmeTermsOfService,
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
  {
    path: 'renewal-info/:certificate_id',
    summary: 'When a certificate is best renewed (RFC 9773 §4)',
    method: 'GET',
    hasNonce: false,
    handle: async ({ directory, params }) => {
      const id = params['certificate_id'] ?? '';
      const window = await findRenewalWindow(parts, directory.mount, id);
      return {
        body: {
          suggestedWindow: {
            start: formatTime(window.startMs),
            end: formatTime(window.endMs),
          },
        },
        retryAfterSeconds: window.retryAfterSeconds,
      };
    },
  },
];
