/** States of the connection to the primary, with the values of the administration document. */
export const CONNECTION_STATES = [
  'ready',
  'connecting',
  'transient_failure',
  'idle',
  'shutdown',
] as const;
export type ConnectionState = (typeof CONNECTION_STATES)[number];

export interface ConnectionFacts {
  readonly activity: 'not_started' | 'running' | 'stopped';
  readonly bus: 'connected' | 'reconnecting' | 'closed';
  /** Outcome of the latest request to the primary. */
  readonly newestQuestion: 'none' | 'answered' | 'failed';
}

export const connectionStateOf = (facts: ConnectionFacts): ConnectionState => {
  if (facts.activity === 'stopped' || facts.bus === 'closed') return 'shutdown';
  if (facts.activity === 'not_started') return 'idle';
  if (facts.newestQuestion === 'none') return 'connecting';
  return facts.bus === 'connected' && facts.newestQuestion === 'answered'
    ? 'ready'
    : 'transient_failure';
};
