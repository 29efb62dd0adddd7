/** Bar chart of certificates by week of expiry. */
import { counted } from '../components/format.ts';
import { TimeChart } from '../components/time-chart.tsx';
import type { CertificateNumbers } from './certificate.ts';

const DAY = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

export const ExpiryChart = ({ numbers }: { numbers: CertificateNumbers }) => {
  const weeks = numbers.expiring_by_week;
  const total = weeks.reduce((sum, { expiring }) => sum + expiring, 0);
  const soon = counted(weeks[0]?.expiring ?? 0, 'certificate');
  return (
    <TimeChart
      label={`${counted(total, 'certificate')} expire within ${weeks.length} weeks, ${soon} of them within one.`}
      times={weeks.map(({ from }) => Date.parse(from))}
      series={[
        {
          name: 'within a week',
          tone: 'warn',
          values: weeks.map(({ expiring }, at) => (at === 0 ? expiring : null)),
        },
        {
          name: 'later',
          tone: 'accent',
          values: weeks.map(({ expiring }, at) => (at === 0 ? null : expiring)),
        },
      ]}
      shape="bars"
      timeText={(ms) => DAY.format(ms)}
      valueText={(count) => count.toLocaleString()}
    />
  );
};
