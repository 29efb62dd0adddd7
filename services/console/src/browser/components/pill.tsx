import type { ReactNode } from 'react';

export type Tone = 'good' | 'busy' | 'bad' | 'plain' | 'accent';

/** A state in one or two words; the colour adds no information of its own. */
export const Pill = ({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) => (
  <span className={`pill ${tone}`}>{children}</span>
);
