/** How the way to the primary stands, in the words of the administration document. */
export type ConnectionState = 'ready' | 'connecting' | 'transient_failure' | 'idle' | 'shutdown';

export interface ConnectionFacts {
  readonly activity: 'not_started' | 'running' | 'stopped';
  readonly bus: 'connected' | 'reconnecting' | 'closed';
  /** How the newest question to the primary ended. */
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
