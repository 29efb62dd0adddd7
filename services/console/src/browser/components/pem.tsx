import styles from './pem.module.css';
import { Lines } from './text.tsx';

/** A certificate or a key as text. */
export const Pem = ({ children }: { children: string | null | undefined }) => (
  <Lines className={styles['pem']}>{children}</Lines>
);
