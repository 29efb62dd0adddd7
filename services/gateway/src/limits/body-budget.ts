/**
 * Limits the memory for request bodies. Bytes count from their arrival until the request is
 * answered, even after they were passed on, because the service then holds them. A request over a
 * limit is refused instead of queued: requests waiting for each other, each with half a body, would
 * deadlock.
 */
import { KeelsonError } from '@keelson/errors';

/** Share for callers without a token, so that they cannot crowd out callers with one. */
export const ANONYMOUS_PART = 1 / 4;

/**
 * Bodies under way on one connection without a token. HTTP/2 allows a hundred, and each costs memory
 * before its first byte; clients without a token send one after the other.
 */
const ANONYMOUS_BODIES = 16;

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
  /**
   * @param anonymous the connection of a sender who is not authenticated
   * @throws KeelsonError `request.requests_under_way` when too many bodies are under way on it
   */
  open(address: string, anonymous: object | undefined): BodyHolding;
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
  const onConnections = new WeakMap<object, number>();
  const enter = (connection: object): void => {
    const count = onConnections.get(connection) ?? 0;
    if (count >= ANONYMOUS_BODIES)
      throw new KeelsonError('request.requests_under_way', {
        whose: 'with a body on a connection without a token',
        limit: ANONYMOUS_BODIES,
      });
    onConnections.set(connection, count + 1);
  };
  const leave = (connection: object): void => {
    onConnections.set(connection, (onConnections.get(connection) ?? 1) - 1);
  };

  return {
    heldBytes: () => total.heldBytes,
    open: (address, connection) => {
      if (connection !== undefined) enter(connection);
      const client = clients.get(address) ?? share('of one client address', clientBytes);
      clients.set(address, client);
      client.users += 1;
      const shares = connection !== undefined ? [client, anonymous, total] : [client, total];
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
          if (connection !== undefined) leave(connection);
          client.users -= 1;
          if (client.users === 0) clients.delete(address);
        },
      };
    },
  };
};
