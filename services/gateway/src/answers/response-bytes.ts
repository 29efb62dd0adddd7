import type { EdgeResponse } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';

/**
 * The whole body of an answer in memory.
 * @throws KeelsonError `request.invalid` when a streamed body has more than `limitBytes`
 */
export const responseBytes = async (
  { body }: EdgeResponse,
  limitBytes = Number.POSITIVE_INFINITY,
): Promise<Uint8Array> => {
  if (body instanceof Uint8Array) return body;
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.byteLength;
    if (size > limitBytes)
      throw new KeelsonError('request.invalid', {
        text: `an answer of more than ${limitBytes} bytes cannot be watched`,
      });
    parts.push(part);
  }
  return Buffer.concat(parts);
};
