import { formatDistance, formatTime } from '../components/format.ts';
import styles from './validity-bar.module.css';

/** The validity of a certificate as a bar, filled up to now. */
export const ValidityBar = ({ from, to }: { from: string; to: string }) => {
  const [begin, end, now] = [Date.parse(from), Date.parse(to), Date.now()];
  const share = Math.min(1, Math.max(0, (now - begin) / (end - begin)));
  const words = end < now ? 'It has expired' : `It expires ${formatDistance(to, now)}`;
  return (
    <figure className={styles['validity-bar']}>
      <svg
        className={styles['drawing']}
        viewBox="0 0 100 4"
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <rect className={styles['whole']} width="100" height="4" />
        <rect
          className={share > 0.9 ? styles['late'] : styles['past']}
          width={share * 100}
          height="4"
        />
      </svg>
      <figcaption className={styles['caption']}>
        {formatTime(from)} – {formatTime(to)}. {words}.
      </figcaption>
    </figure>
  );
};
