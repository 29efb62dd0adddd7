import { useSecret } from '../api/queries.ts';
import { Card } from '../components/page.tsx';
import { CardHeading } from '../components/text.tsx';
import type { CertificateNumbers } from './certificate.ts';
import styles from './certificate-numbers.module.css';
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
      <dl className={styles['figures']}>
        {figures.map(([title, count]) => (
          <div key={title}>
            <dt className={styles['title']}>{title}</dt>
            <dd className={styles['figure']}>{shown(count)}</dd>
          </div>
        ))}
      </dl>
      <CardHeading>Expiry by week</CardHeading>
      <ExpiryChart numbers={numbers} />
    </Card>
  );
};
