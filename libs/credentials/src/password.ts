/** Hashes of passwords: Argon2id (RFC 9106) with the parameters that OWASP recommends, as PHC strings. */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

interface Cost {
  /** KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

const COST: Cost = { memory: 19_456, passes: 2, parallelism: 1 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;

const derive = promisify(argon2);

const digest = (password: string, salt: Uint8Array, cost: Cost): Promise<Buffer> =>
  derive('argon2id', { ...cost, message: password, nonce: salt, tagLength: HASH_BYTES });

const encode = (bytes: Uint8Array): string =>
  Buffer.from(bytes).toString('base64').replaceAll('=', '');

export const hashPassword = async (password: string): Promise<string> => {
  const salt = randomBytes(SALT_BYTES);
  const { memory, passes, parallelism } = COST;
  const cost = `m=${memory},t=${passes},p=${parallelism}`;
  return `$argon2id$v=19$${cost}$${encode(salt)}$${encode(await digest(password, salt, COST))}`;
};

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/;

/**
 * Whether the password is that of the hash. Without one, as much work is done, so that the time of an answer does not
 * tell which users exist.
 */
export const verifyPassword = async (
  passwordHash: string | undefined,
  password: string,
): Promise<boolean> => {
  const [, memory, passes, parallelism, salt = '', hash = ''] = PHC.exec(passwordHash ?? '') ?? [];
  const isKnown = hash !== '';
  const cost = isKnown
    ? { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
    : COST;
  const known = isKnown ? Buffer.from(hash, 'base64') : Buffer.alloc(HASH_BYTES);
  const found = await digest(
    password,
    isKnown ? Buffer.from(salt, 'base64') : Buffer.alloc(SALT_BYTES),
    cost,
  );
  return isKnown && found.length === known.length && timingSafeEqual(found, known);
};
