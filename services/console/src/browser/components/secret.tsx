import styles from './secret.module.css';
import { Code } from './text.tsx';

/** A secret that a click selects as a whole. */
export const Secret = ({ children }: { children: string | undefined }) => (
  <Code className={styles['secret']}>{children}</Code>
);
