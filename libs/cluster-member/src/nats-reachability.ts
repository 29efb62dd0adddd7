/** Logs whether NATS can be reached, because nothing else shows why a secondary falls behind. */
import type { Bus } from '@keelson/bus';
import type { Clock } from '@keelson/clock';
import type { Logger } from '@keelson/logging';

/** A first connection that takes longer than this is logged as missing. */
const FIRST_CONNECTION_WITHIN_MS = 5000;

/**
 * Logs when NATS becomes unreachable and reachable.
 * @param whose the server and its purpose, for the log message
 * @returns a function that stops it, to be called before the bus is closed
 */
export const logReachability = (
  bus: Pick<Bus, 'status' | 'onStatus' | 'failure'>,
  { logger, clock }: { readonly logger: Logger; readonly clock: Clock },
  whose: { readonly kind: string; readonly role: 'primary' | 'secondary' },
): (() => void) => {
  let isMissed = false;
  const look = (): void => {
    const isReached = bus.status() === 'connected';
    if (isReached !== isMissed) return;
    isMissed = !isReached;
    if (isReached) logger.info(whose, 'NATS is reachable again: replication continues');
    else
      logger.warn(
        { ...whose, reason: bus.failure() },
        'NATS cannot be reached: replication waits for it',
      );
  };
  const cancel = clock.after(FIRST_CONNECTION_WITHIN_MS, look);
  const forget = bus.onStatus(look);
  return () => {
    cancel();
    forget();
  };
};
