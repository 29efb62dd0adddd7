/** A part of a page that is folded until somebody opens it. */
import type { ComponentProps } from 'react';
import { classes } from './classes.ts';
import styles from './details.module.css';

/** The folded part; `hasFields` if it holds fields of a form, of which the first keeps a distance. */
export const Details = ({
  hasFields = false,
  className,
  ...rest
}: ComponentProps<'details'> & { hasFields?: boolean }) => (
  <details {...rest} className={classes(hasFields && styles['fields'], className)} />
);

/** The line of a folded part that is always there, and opens it. */
export const Summary = ({ className, ...rest }: ComponentProps<'summary'>) => (
  <summary {...rest} className={classes(styles['summary'], className)} />
);
