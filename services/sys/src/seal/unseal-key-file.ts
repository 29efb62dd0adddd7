/** The key file of a static seal: 32 bytes in base64, readable by its owner only. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { KeelsonError } from '@keelson/errors';
import { makeFileDurably } from '@keelson/runtime';
import { KEY_BYTES } from './root-key-wrap.ts';

const parse = (text: string): Uint8Array => {
  const key = Uint8Array.from(Buffer.from(text.trim(), 'base64'));
  if (key.length !== KEY_BYTES) throw new KeelsonError('sys.wrong_unseal_key');
  return key;
};

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

/**
 * Reads the key. A missing file is created only for a cluster that is not initialized yet: a new key could
 * not open an existing seal.
 * @throws KeelsonError `sys.wrong_unseal_key` when the file is missing or holds no key
 */
export const loadUnsealKey = async (file: string, isInitialized: boolean): Promise<Uint8Array> => {
  try {
    return parse(await readFile(file, 'utf8'));
  } catch (error) {
    if (!isMissing(error)) throw error;
    if (isInitialized) throw new KeelsonError('sys.wrong_unseal_key', {}, { cause: error });
    // Processes that start at the same time use the key of the first.
    makeFileDurably(file, `${randomBytes(KEY_BYTES).toString('base64')}\n`);
    return parse(await readFile(file, 'utf8'));
  }
};
