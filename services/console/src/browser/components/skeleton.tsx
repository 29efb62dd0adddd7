import { useEffect, useState } from 'react';
import styles from './skeleton.module.css';

const LINES = ['a', 'b', 'c'];

/** Content that takes longer to load keeps nothing else from sight. */
export const LATEST_MS = 5_000;

/** Grey bars as a placeholder for loading content. What comes after it waits for a while, since it would move. */
export const Skeleton = ({ label = 'Loading' }: { label?: string }) => {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const late = setTimeout(() => setLate(true), LATEST_MS);
    return () => clearTimeout(late);
  }, []);
  return (
    <div
      className={styles['skeleton']}
      role="status"
      aria-label={label}
      {...(!isLate && { 'data-loading': true })}
    >
      {LINES.map((line) => (
        <span key={line} className={styles['bar']} />
      ))}
    </div>
  );
};
