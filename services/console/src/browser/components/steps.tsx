import type { ReactNode } from 'react';
import styles from './steps.module.css';

/** Steps that are taken one after the other. */
export const Steps = ({ children }: { children: ReactNode }) => (
  <ol className={styles['steps']}>{children}</ol>
);
