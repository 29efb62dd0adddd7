/**
 * Nonces for a service with several replicas: random, with an expiry time and a MAC under a key
 * shared by all replicas. A used nonce is stored until its expiry, so it is accepted only once,
 * whichever replicas it reaches. Unused nonces are not stored.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import type { RoundOptions } from '@keelson/locks';
import type { Store } from '@keelson/storage';
import type { Nonces } from './nonces.ts';

const KEY_PATH = 'local/acme-nonce-key';
/**
 * Neither encrypted nor replicated: a used nonce is not secret, and other clusters do not need it.
 */
const USED_PREFIX = 'node/acme-nonces/';
const LIFETIME_MS = 15 * 60_000;
const BUCKET_MS = 60_000;
const EXPIRY_BYTES = 6;
const RANDOM_BYTES = 16;
const TAG_BYTES = 16;
const NONCE_BYTES = EXPIRY_BYTES + RANDOM_BYTES + TAG_BYTES;
const USED = Uint8Array.of(1);

export interface StoredNonces extends Nonces {
  /** Removes records of expired nonces; returns true if more remain to be removed now. */
  removeEnded(options: RoundOptions): Promise<boolean>;
}

const PAGE_SIZE = 500;

export const createStoredNonces = ({
  store,
  clock,
}: {
  readonly store: Store;
  readonly clock: Clock;
}): StoredNonces => {
  /** Loads the MAC key; the first replica that needs it creates it. */
  const loadKey = async (): Promise<Uint8Array> => {
    const known = await store.read(KEY_PATH);
    if (known !== undefined) return known.value;
    const made = randomBytes(32);
    return store.transact(async (tx) => {
      const existing = await tx.read(KEY_PATH);
      if (existing !== undefined) return existing.value;
      tx.write(KEY_PATH, made);
      return made;
    });
  };

  const tagOf = async (content: Uint8Array): Promise<Buffer> =>
    createHmac('sha256', await loadKey())
      .update(content)
      .digest()
      .subarray(0, TAG_BYTES);

  const bucketOf = (endsAtMs: number): string =>
    `${USED_PREFIX}${Math.floor(endsAtMs / BUCKET_MS)}/`;

  return {
    issue: async () => {
      const content = randomBytes(EXPIRY_BYTES + RANDOM_BYTES);
      content.writeUIntBE(clock.nowMs() + LIFETIME_MS, 0, EXPIRY_BYTES);
      return Buffer.concat([content, await tagOf(content)]).toString('base64url');
    },
    redeem: async (nonce) => {
      const bytes = Buffer.from(nonce, 'base64url');
      if (bytes.byteLength !== NONCE_BYTES || bytes.toString('base64url') !== nonce) return false;
      const content = bytes.subarray(0, EXPIRY_BYTES + RANDOM_BYTES);
      if (!timingSafeEqual(await tagOf(content), bytes.subarray(-TAG_BYTES))) return false;
      const endsAtMs = content.readUIntBE(0, EXPIRY_BYTES);
      if (endsAtMs <= clock.nowMs()) return false;
      const path = bucketOf(endsAtMs) + content.subarray(EXPIRY_BYTES).toString('base64url');
      return store.transact(async (tx) => {
        if ((await tx.read(path)) !== undefined) return false;
        tx.write(path, USED);
        return true;
      });
    },
    removeEnded: async ({ fence }) => {
      const names = await store.list(USED_PREFIX, { limit: 1 });
      const bucket = USED_PREFIX + (names[0] ?? '');
      // Kept for one more minute, in case the clocks of replicas differ.
      if (names.length === 0 || bucket >= bucketOf(clock.nowMs() - BUCKET_MS)) return false;
      await store.transact(
        async (tx) => {
          for (const { path } of await tx.scan(bucket, { limit: PAGE_SIZE })) tx.delete(path);
        },
        fence === undefined ? {} : { fence },
      );
      return true;
    },
  };
};
