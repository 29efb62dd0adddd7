/**
 * Waits for the primary's answer to a request when it may be unreachable: a network that drops packets
 * refuses nothing. Missing heartbeats reveal this sooner than the time limit of the request.
 */
import { type Clock, pause } from '@keelson/clock';
import { hasCode, KeelsonError } from '@keelson/errors';
import { connectionStatusOf } from '../domain/heartbeat.ts';
import type { SecondaryStatus } from './follower-records.ts';

const LOOK_EVERY_MS = 1000;

export interface PrimaryLiveness {
  readonly clock: Clock;
  /** Status of the elected replica, which sends the heartbeats. */
  readonly status: () => Promise<SecondaryStatus>;
  readonly heartbeatIntervalMs: number;
}

/** Whether the newest question and recent heartbeats failed. A silent replica is no evidence of that. */
const isUnreachable = async ({
  clock,
  status,
  heartbeatIntervalMs,
}: PrimaryLiveness): Promise<boolean> => {
  const { connectionState, heartbeat } = await status();
  return (
    connectionState === 'transient_failure' &&
    heartbeat !== undefined &&
    connectionStatusOf(heartbeat.atMs, clock.nowMs(), heartbeatIntervalMs) === 'disconnected'
  );
};

const untilUnreachable = async (hearing: PrimaryLiveness, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted && !(await isUnreachable(hearing).catch(() => false)))
    await pause(hearing.clock, LOOK_EVERY_MS, signal);
};

/**
 * @param ask sends the request
 * @throws KeelsonError `replication.primary_unreachable`: it was not sent, or not received;
 *   `replication.outcome_unknown`: it may have been carried out; also the errors of the primary's answer
 */
export const whilePrimaryResponds = async <T>(
  hearing: PrimaryLiveness,
  isConnected: () => boolean,
  ask: () => Promise<T>,
): Promise<T> => {
  if (!isConnected() || (await isUnreachable(hearing)))
    throw new KeelsonError('replication.primary_unreachable');
  const answered = new AbortController();
  const gone = untilUnreachable(hearing, answered.signal).then((): never => {
    throw new KeelsonError('replication.outcome_unknown');
  });
  gone.catch(() => undefined); // The race reports it, unless it has ended.
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
