import type { ComponentProps } from 'react';
import styles from './callout.module.css';

/** Words that a person has to see before anything else of a page. */
export const Callout = (props: Omit<ComponentProps<'div'>, 'className'>) => (
  <div {...props} className={styles['callout']} />
);
