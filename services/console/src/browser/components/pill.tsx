import type { ReactNode } from 'react';
import { classes } from './classes.ts';
import styles from './pill.module.css';

const TONES = {
  good: styles['good'],
  busy: styles['busy'],
  bad: styles['bad'],
  plain: undefined,
  accent: styles['accent'],
} as const;

export type Tone = keyof typeof TONES;

/** A state in one or two words; the colour adds no information of its own. */
export const Pill = ({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) => (
  <span className={classes(styles['pill'], TONES[tone])}>{children}</span>
);

/** States in a row of their own. */
export const PillRow = ({ children }: { children: ReactNode }) => (
  <p className={styles['row']}>{children}</p>
);
