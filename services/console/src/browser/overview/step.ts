import type { ReactNode } from 'react';

/** One of the first steps in a new installation. */
export interface Step {
  readonly title: string;
  readonly isDone: boolean;
  /** The button or link that goes on; shown for the first step that is not done. */
  readonly action: ReactNode;
}
