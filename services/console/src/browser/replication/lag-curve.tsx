/** Chart of the secondaries' lag since the page was opened. */
import { useEffect, useState } from 'react';
import { type ChartTone, TimeChart } from '../components/time-chart.tsx';
import styles from './lag-curve.module.css';
import { type LagSample, lagSample, MAX_SAMPLES } from './lag-samples.ts';
import { formatDuration, type Status } from './replication-status.ts';

const TONES: readonly ChartTone[] = ['accent', 'good', 'warn', 'bad'];
const LEAST_SPAN_MS = 60_000;
/** Shorter lags are all the same to the eye. */
const LEAST_LAG_MS = 10;
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

export const LagCurve = ({ title, status }: { title: string; status: Status }) => {
  const [samples, setSamples] = useState<readonly LagSample[]>([]);
  useEffect(() => {
    setSamples((last) => [...last, lagSample(status, Date.now())].slice(-MAX_SAMPLES));
  }, [status]);
  const names = [...new Set(samples.flatMap(({ lags }) => [...lags.keys()]))];
  const latest = samples.at(-1);
  if (latest === undefined || names.length === 0) return null;
  const words = names.map((name) => `${name} ${formatDuration(latest.lags.get(name))}`).join(', ');
  return (
    <figure className={styles['lag-curve']}>
      <TimeChart
        label={`Lag of ${title} since this page was opened; now: ${words}`}
        times={samples.map(({ atMs }) => atMs)}
        series={names.map((name, at) => ({
          name,
          tone: TONES[at % TONES.length] ?? 'accent',
          values: samples.map(({ lags }) => lags.get(name) ?? null),
        }))}
        shape="lines"
        timeText={(ms) => TIME.format(ms)}
        valueText={formatDuration}
        least={LEAST_LAG_MS}
        leastSpanMs={LEAST_SPAN_MS}
      />
      <figcaption className={styles['caption']}>
        Behind, since this page was opened. Now: {words}
      </figcaption>
    </figure>
  );
};
