/**
 * Arithmetic of heartbeats and canaries. A heartbeat carries the secondary's clock to the primary and
 * the primary's back; the primary is assumed to have read its clock halfway between sending and
 * receiving.
 */
export interface HeartbeatTimes {
  /** Clock of the secondary. */
  readonly sentAtMs: number;
  readonly receivedAtMs: number;
  /** Clock of the primary when it answered. */
  readonly primaryNowMs: number;
}

/** Primary's clock minus ours; negative when the primary's is behind. */
export const clockSkewMs = ({ sentAtMs, receivedAtMs, primaryNowMs }: HeartbeatTimes): number =>
  Math.round(primaryNowMs - (sentAtMs + receivedAtMs) / 2);

export const roundTripMs = ({ sentAtMs, receivedAtMs }: HeartbeatTimes): number =>
  Math.max(0, receivedAtMs - sentAtMs);

/**
 * The delay from commit on the primary to here, including the application.
 * @param writtenAtMs by the primary's clock; `skewMs` as `clockSkewMs`
 */
export const canaryAgeMs = (writtenAtMs: number, nowMs: number, skewMs: number): number =>
  Math.max(0, nowMs + skewMs - writtenAtMs);

/** Entries of the primary's log that are still to be applied. */
export const lagEntryCount = (lastWal: number, lastRemoteWal: number): number =>
  Math.max(0, lastWal - lastRemoteWal);

/** Missed heartbeats after which a secondary counts as disconnected. */
const MISSED_HEARTBEATS = 3;

export const connectionStatusOf = (
  lastHeartbeatAtMs: number,
  nowMs: number,
  intervalMs: number,
): 'connected' | 'disconnected' =>
  nowMs - lastHeartbeatAtMs <= MISSED_HEARTBEATS * intervalMs ? 'connected' : 'disconnected';
