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

/** The bytes, with a turn before each piece. */
export async function* inTurns(
  pieces: AsyncIterable<Uint8Array>,
  turn: () => Promise<void>,
): AsyncGenerator<Uint8Array, void> {
  const iterator = pieces[Symbol.asyncIterator]();
  try {
    for (;;) {
      await turn();
      const { done, value } = await iterator.next();
      if (done === true) return;
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}
