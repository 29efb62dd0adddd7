import { KeelsonError } from '@keelson/errors';
import type { EdgeBody } from './edge-service.ts';

/** A body whose bytes are already in memory. */
export const bufferedBody = (bytes: Uint8Array): EdgeBody => ({
  buffered: bytes,
  bytes: (limitBytes) =>
    bytes.byteLength > limitBytes
      ? Promise.reject(new KeelsonError('request.too_large', { limitBytes }))
      : Promise.resolve(bytes),
  chunks: async function* () {
    if (bytes.byteLength > 0) yield bytes;
  },
});
