import { formatDistance, formatTime } from '../components/format.ts';

/** The validity of a certificate as a bar, filled up to now. */
export const ValidityBar = ({ from, to }: { from: string; to: string }) => {
  const [begin, end, now] = [Date.parse(from), Date.parse(to), Date.now()];
  const share = Math.min(1, Math.max(0, (now - begin) / (end - begin)));
  const words = end < now ? 'It has expired' : `It expires ${formatDistance(to, now)}`;
  return (
    <figure className="validity">
      <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        <rect className="whole" width="100" height="4" />
        <rect className={share > 0.9 ? 'late' : 'past'} width={share * 100} height="4" />
      </svg>
      <figcaption>
        {formatTime(from)} – {formatTime(to)}. {words}.
      </figcaption>
    </figure>
  );
};
