import { formatTime } from '../../validity/domain/lifetime.ts';
import type { OpenResource } from '../directories/open-resource.ts';
import { findRenewalWindow, type RenewalParts } from './renewal-operations.ts';

export const renewalResources = (parts: RenewalParts): readonly OpenResource[] => [
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
