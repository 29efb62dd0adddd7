/** Faults of replication in sentences, which readiness and `keelson status` show. */
import type { ReplicationKind, SecondaryStatus } from '@keelson/replication';

/** Three heartbeats: as long as a primary waits before it reports a secondary as disconnected. */
const SILENT_AFTER_MS = 15_000;

/** @param reason why there is no connection, as the bus reports it */
export const toNatsFault = (
  kind: ReplicationKind,
  role: 'primary' | 'secondary',
  reason = 'there is no connection to NATS',
): string =>
  role === 'primary'
    ? `NATS cannot be reached (${reason}): nothing is published to ${kind} secondaries`
    : `the NATS server of the ${kind} primary cannot be reached (${reason}): nothing arrives here`;

/** Why a primary with a connection to NATS publishes nothing; undefined while it publishes. */
export const toPublicationFault = (
  kind: ReplicationKind,
  reasons: readonly string[],
): string | undefined =>
  reasons.length === 0
    ? undefined
    : `nothing is published to ${kind} secondaries: ${reasons.join('; ')}`;

/** The reason why a secondary with a connection to NATS does not follow its primary; undefined while it follows. */
export const toSecondaryFault = (
  kind: ReplicationKind,
  { state, refusal, heartbeat, lastStartMs }: SecondaryStatus,
  nowMs: number,
): string | undefined => {
  if (refusal !== undefined) return `the ${kind} primary refuses this cluster: ${refusal}`;
  const silentMs = nowMs - Math.max(heartbeat?.atMs ?? 0, lastStartMs);
  if (silentMs > SILENT_AFTER_MS)
    return `the ${kind} primary has not answered for ${Math.round(silentMs / 1000)} s: writes that it must decide about are refused`;
  return state === 'idle'
    ? `the log of the ${kind} primary cannot be followed (the log has the reason); it is tried again`
    : undefined;
};
