/** Addresses of /api/v2 at which repository providers deliver events, without a token. */
import { decodePath } from '@keelson/edge';

/** @param path below the surface, percent-encoded */
export const isWebhookAddress = (path: string): boolean =>
  decodePath(path).startsWith('/webhooks/');
