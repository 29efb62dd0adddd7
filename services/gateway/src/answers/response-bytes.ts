import type { EdgeResponse } from '@keelson/edge';

/** The whole body of an answer in memory. */
export const responseBytes = async ({ body }: EdgeResponse): Promise<Uint8Array> => {
  if (body instanceof Uint8Array) return body;
  const parts: Uint8Array[] = [];
  for await (const chunk of body) parts.push(chunk);
  return Buffer.concat(parts);
};
