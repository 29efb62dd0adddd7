/**
 * The key file of a static seal: 32 bytes in base64, readable by its owner only. The next key
 * is in the same folder, with the suffix `.next`, until it has replaced the former one.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import { makeFileDurably, removeFileDurably, writeFileDurably } from '@keelson/runtime';
import { KEY_BYTES } from './root-key-wrap.ts';

/** undefined when the text is no key. */
const parse = (text: string): Uint8Array | undefined => {
  const key = Uint8Array.from(Buffer.from(text.trim(), 'base64'));
  return key.length === KEY_BYTES ? key : undefined;
};

const readKey = async (file: string): Promise<Uint8Array> => {
  const key = parse(await readFile(file, 'utf8'));
  if (key === undefined) throw new KeelsonError('sys.wrong_unseal_key');
  return key;
};

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

const toText = (key: Uint8Array): string => `${Buffer.from(key).toString('base64')}\n`;

const makeKey = (file: string): void => makeFileDurably(file, toText(randomBytes(KEY_BYTES)));

/** Name of the file with the key that is to replace the one in `file`. */
export const nextKeyFile = (file: string): string => `${file}.next`;

/**
 * Reads the key. A missing file is created only for a cluster that is not initialized yet: a new key could
 * not open an existing seal.
 * @throws KeelsonError `sys.wrong_unseal_key` when the file is missing or holds no key
 */
export const loadUnsealKey = async (file: string, isInitialized: boolean): Promise<Uint8Array> => {
  try {
    return await readKey(file);
  } catch (error) {
    if (!isMissing(error)) throw error;
    if (isInitialized) throw new KeelsonError('sys.wrong_unseal_key', {}, { cause: error });
    // Processes that start at the same time use the key of the first.
    makeKey(file);
    return await readKey(file);
  }
};

/**
 * The key that is to replace the one in `file`; undefined without a file for it.
 * @throws KeelsonError `request.invalid` when that file holds no key
 */
export const loadNextKey = async (file: string): Promise<Uint8Array | undefined> => {
  const next = nextKeyFile(file);
  let text: string;
  try {
    text = await readFile(next, 'utf8');
  } catch (error) {
    if (!isMissing(error)) throw error;
    return undefined;
  }
  const key = parse(text);
  if (key === undefined)
    throw new KeelsonError('request.invalid', {
      text: `${next} holds no key: 32 bytes in base64 are wanted`,
    });
  return key;
};

/** Creates the key that is to replace the one in `file`, unless there is one. @throws Error of the file system */
export const makeNextKey = (file: string): void => makeKey(nextKeyFile(file));

/**
 * Puts `key`, which opens the seal and was the next key, in the place of the former one. The file is written
 * with the key at hand, not moved, because somebody may have put another next key there meanwhile. A file that
 * an orchestrator mounts cannot be replaced by a process: the next key then opens the seal from where it is.
 * @returns whether the key is in its place
 */
export const installKey = (file: string, key: Uint8Array, logger: Logger): boolean => {
  const next = nextKeyFile(file);
  try {
    writeFileDurably(file, toText(key));
    if (parse(readFileSync(next, 'utf8'))?.every((byte, at) => byte === key[at]))
      removeFileDurably(next);
    return true;
  } catch (err) {
    logger.warn({ err }, `the new unseal key cannot be put in its place: move ${next} to ${file}`);
    return false;
  }
};
