import type { ReactNode } from 'react';
import styles from './top-bar.module.css';

/** The bar above all pages. */
export const TopBar = ({ children }: { children: ReactNode }) => (
  <header className={styles['top-bar']}>{children}</header>
);
