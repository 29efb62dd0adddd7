/**
 * Limits the memory for request bodies. Bytes count from their arrival until the request is
 * answered, even after they were passed on, because the service then holds them. A request over a
 * limit is refused instead of queued: requests waiting for each other, each with half a body, would
 * deadlock.
 */
import { KeelsonError } from '@keelson/errors';

/** Share for callers without a token, so that they cannot crowd out callers with one. */
export const ANONYMOUS_PART = 1 / 4;

export interface BodyBudgetLimits {
  /** Limit of all bodies together, in bytes. */
  readonly totalBytes: number;
  /** Limit of the bodies of one client address, in bytes. */
  readonly clientBytes: number;
}

/** The share of the budget that one request holds. */
export interface BodyHolding {
  /** @throws KeelsonError `request.bodies_under_way` when the bytes exceed a limit */
  take(bytes: number): void;
  /** Releases everything; nothing is counted afterwards. */
  release(): void;
}

export interface BodyBudget {
  /** @param isAnonymous whether the sender is unauthenticated */
  open(address: string, isAnonymous: boolean): BodyHolding;
  /** Bytes that all requests hold now. */
  heldBytes(): number;
}

interface Share {
  readonly whose: string;
  readonly limitBytes: number;
  heldBytes: number;
  /** Number of requests that hold a part of the budget. */
  users: number;
}

const share = (whose: string, limitBytes: number): Share => ({
  whose,
  limitBytes,
  heldBytes: 0,
  users: 0,
});

export const createBodyBudget = ({ totalBytes, clientBytes }: BodyBudgetLimits): BodyBudget => {
  const total = share('of all clients', totalBytes);
  const anonymous = share('of callers without a token', Math.floor(totalBytes * ANONYMOUS_PART));
  const clients = new Map<string, Share>();

  return {
    heldBytes: () => total.heldBytes,
    open: (address, isAnonymous) => {
      const client = clients.get(address) ?? share('of one client address', clientBytes);
      clients.set(address, client);
      client.users += 1;
      const shares = isAnonymous ? [client, anonymous, total] : [client, total];
      let heldBytes = 0;
      let isReleased = false;
      return {
        take: (bytes) => {
          if (isReleased) return;
          for (const { whose, limitBytes, heldBytes: held } of shares)
            if (held + bytes > limitBytes)
              throw new KeelsonError('request.bodies_under_way', { whose, limitBytes });
          for (const one of shares) one.heldBytes += bytes;
          heldBytes += bytes;
        },
        release: () => {
          if (isReleased) return;
          isReleased = true;
          for (const one of shares) one.heldBytes -= heldBytes;
          client.users -= 1;
          if (client.users === 0) clients.delete(address);
        },
      };
    },
  };
};
