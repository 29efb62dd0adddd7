/** Bar chart of certificates by week of expiry. */
import { AxisBottom, AxisLeft } from '@visx/axis';
import { scaleBand, scaleLinear } from '@visx/scale';
import { Bar } from '@visx/shape';
import { useWidth } from '../components/chart.ts';
import { counted } from '../components/format.ts';
import type { CertificateNumbers } from './certificate.ts';

const [HEIGHT, LEFT, BOTTOM, TOP] = [170, 40, 28, 8];
const PIXELS_PER_DATE = 60;
const DAY = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

export const ExpiryChart = ({ numbers }: { numbers: CertificateNumbers }) => {
  const buckets = numbers.expiring_by_week.map(({ from, expiring }) => ({
    fromMs: Date.parse(from),
    count: expiring,
  }));
  const weeks = buckets.length;
  const [svg, width] = useWidth();
  const total = buckets.reduce((sum, { count }) => sum + count, 0);
  const x = scaleBand({
    domain: buckets.map(({ fromMs }) => fromMs),
    range: [LEFT, width],
    padding: 0.25,
  });
  const highest = Math.max(1, ...buckets.map(({ count }) => count));
  const y = scaleLinear({ domain: [0, highest], range: [HEIGHT - BOTTOM, TOP], nice: true });
  const soon = counted(buckets[0]?.count ?? 0, 'certificate');
  return (
    <svg
      ref={svg}
      className="chart"
      viewBox={`0 0 ${width} ${HEIGHT}`}
      role="img"
      aria-label={`${counted(total, 'certificate')} expire within ${weeks} weeks, ${soon} of them within one.`}
    >
      {buckets.map(({ fromMs, count }, at) => (
        <Bar
          key={fromMs}
          className={at === 0 ? 'soon' : 'later'}
          x={x(fromMs) ?? 0}
          y={y(count)}
          width={x.bandwidth()}
          height={HEIGHT - BOTTOM - y(count)}
        />
      ))}
      <AxisBottom
        scale={x}
        top={HEIGHT - BOTTOM}
        tickFormat={(ms) => DAY.format(new Date(Number(ms)))}
        tickValues={buckets
          .map(({ fromMs }) => fromMs)
          .filter((_, at) => at % Math.ceil((weeks * PIXELS_PER_DATE) / width) === 0)}
        hideTicks
      />
      <AxisLeft
        scale={y}
        left={LEFT}
        numTicks={Math.min(4, highest)}
        tickFormat={(count) => String(Number(count))}
        hideAxisLine
      />
    </svg>
  );
};
