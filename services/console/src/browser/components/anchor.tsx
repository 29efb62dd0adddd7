import type { ComponentProps } from 'react';
import styles from './anchor.module.css';
import { classes } from './classes.ts';

/** A link to any address; one to a page of the console is a `PageLink`. */
export const Anchor = ({ className, children, ...rest }: ComponentProps<'a'>) => (
  <a {...rest} className={classes(styles['anchor'], className)}>
    {children}
  </a>
);
