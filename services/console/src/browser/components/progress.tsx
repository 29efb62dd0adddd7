/** How much of something is done. */
import type { ComponentProps } from 'react';
import styles from './progress.module.css';

export const Progress = (props: Omit<ComponentProps<'progress'>, 'className'>) => (
  <progress {...props} className={styles['progress']} />
);
