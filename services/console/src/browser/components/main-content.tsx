import type { ComponentProps } from 'react';
import { classes } from './classes.ts';
import styles from './main-content.module.css';

/** The main part of a window. */
export const MainContent = ({ className, ...rest }: ComponentProps<'main'>) => (
  <main {...rest} className={classes(styles['main-content'], className)} />
);
