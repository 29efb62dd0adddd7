/**
 * A request that the primary is to answer, while nobody knows whether it can be reached: a network that
 * swallows packets refuses nothing. Heartbeats tell sooner than the time limit of the request.
 */
import { type Clock, pause } from '@keelson/clock';
import { hasCode, KeelsonError } from '@keelson/errors';
import { connectionStatusOf } from '../domain/heartbeat.ts';
import type { SecondaryStatus } from './follower-records.ts';

const LOOK_EVERY_MS = 1000;

export interface PrimaryHearing {
  readonly clock: Clock;
  /** How the elected replica stands: it sends the heartbeats. */
  readonly status: () => Promise<SecondaryStatus>;
  readonly heartbeatIntervalMs: number;
}

/** The newest question failed, and heartbeats did for a while. A replica that is silent itself tells nothing. */
const isGone = async ({ clock, status, heartbeatIntervalMs }: PrimaryHearing): Promise<boolean> => {
  const { connectionState, heartbeat } = await status();
  return (
    connectionState === 'transient_failure' &&
    heartbeat !== undefined &&
    connectionStatusOf(heartbeat.atMs, clock.nowMs(), heartbeatIntervalMs) === 'disconnected'
  );
};

const untilGone = async (hearing: PrimaryHearing, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted && !(await isGone(hearing).catch(() => false)))
    await pause(hearing.clock, LOOK_EVERY_MS, signal);
};

/**
 * @param ask sends the request
 * @throws KeelsonError `replication.primary_unreachable`: it was not sent, or nobody took it;
 *   `replication.outcome_unknown`: it may have been carried out; what the primary answers
 */
export const whilePrimaryIsHeard = async <T>(
  hearing: PrimaryHearing,
  isConnected: () => boolean,
  ask: () => Promise<T>,
): Promise<T> => {
  if (!isConnected() || (await isGone(hearing)))
    throw new KeelsonError('replication.primary_unreachable');
  const answered = new AbortController();
  const gone = untilGone(hearing, answered.signal).then((): never => {
    throw new KeelsonError('replication.outcome_unknown');
  });
  gone.catch(() => undefined); // Told by the race, or over with it.
  try {
    return await Promise.race([ask(), gone]);
  } catch (cause) {
    if (hasCode(cause, 'bus.no_responder'))
      throw new KeelsonError('replication.primary_unreachable', {}, { cause });
    if (hasCode(cause, 'bus.timeout', 'bus.unavailable'))
      throw new KeelsonError('replication.outcome_unknown', {}, { cause });
    throw cause;
  } finally {
    answered.abort();
  }
};
