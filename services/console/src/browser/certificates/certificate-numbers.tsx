import { useSecret } from '../api/queries.ts';
import { Card } from '../components/page.tsx';
import type { CertificateNumbers } from './certificate.ts';
import { ExpiryChart } from './expiry-chart.tsx';

const SOON_WEEKS = 4;

/** The numbers of a mount, as the server counts them. */
export const CertificateNumbersCard = ({ mount }: { mount: string }) => {
  const query = useSecret<CertificateNumbers>(`${mount}/certs/summary`);
  const { data: numbers } = query;
  // Whoever may not read them has the list alone.
  if (numbers === undefined || numbers === null) return null;
  const shown = (count: number): string =>
    `${count.toLocaleString()}${count >= numbers.limit ? ' or more' : ''}`;
  const soon = numbers.expiring_by_week.slice(0, SOON_WEEKS);
  const figures = [
    ['Valid', numbers.valid],
    ['Expire within 4 weeks', soon.reduce((sum, { expiring }) => sum + expiring, 0)],
    ['Revoked', numbers.revoked],
    ['Expired', numbers.expired],
  ] as const;
  return (
    <Card>
      <dl className="figures">
        {figures.map(([title, count]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>{shown(count)}</dd>
          </div>
        ))}
      </dl>
      <h2>Expiry by week</h2>
      <ExpiryChart numbers={numbers} />
    </Card>
  );
};
