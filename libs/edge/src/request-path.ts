/**
 * Paths are transferred percent-encoded, as the client sent them. Policies and routers must see the same
 * text, so that both decode it once, with this function.
 */
import { KeelsonError } from '@keelson/errors';

/**
 * Decodes a percent-encoded path.
 * @throws KeelsonError `request.invalid` for broken encoding, for NUL, and for characters that end a
 *   path: a router would cut it there while a policy would not
 */
export const decodePath = (path: string): string => {
  if (/[?#]/.test(path)) throw invalid('the path holds a character that ends it');
  const decoded = path.includes('%') ? percentDecode(path) : path;
  if (decoded.includes('\0')) throw invalid('the path holds a NUL character');
  return decoded;
};

const percentDecode = (path: string): string => {
  try {
    return decodeURIComponent(path);
  } catch {
    throw invalid('the path is not valid percent-encoding');
  }
};

const invalid = (text: string): KeelsonError => new KeelsonError('request.invalid', { text });
