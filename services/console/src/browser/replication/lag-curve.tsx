/** Chart of the secondaries' lag since the page was opened. */
import { AxisLeft } from '@visx/axis';
import { scaleLinear } from '@visx/scale';
import { LinePath } from '@visx/shape';
import { useEffect, useState } from 'react';
import { useWidth } from '../components/chart.ts';
import { type LagSample, lagSample, MAX_SAMPLES } from './lag-samples.ts';
import { formatDuration, type Status } from './replication-status.ts';

const [HEIGHT, LEFT, TOP, BOTTOM] = [120, 60, 8, 8];

export const LagCurve = ({ title, status }: { title: string; status: Status }) => {
  const [samples, setSamples] = useState<readonly LagSample[]>([]);
  const [svg, width] = useWidth();
  useEffect(() => {
    setSamples((last) => [...last, lagSample(status, Date.now())].slice(-MAX_SAMPLES));
  }, [status]);
  const names = [...new Set(samples.flatMap(({ lags }) => [...lags.keys()]))];
  const [first, latest] = [samples[0], samples.at(-1)];
  if (first === undefined || latest === undefined || names.length === 0) return null;
  const highest = Math.max(10, ...samples.flatMap(({ lags }) => [...lags.values()]));
  const x = scaleLinear({
    domain: [first.atMs, Math.max(latest.atMs, first.atMs + 60_000)],
    range: [LEFT, width],
  });
  const y = scaleLinear({ domain: [0, highest], range: [HEIGHT - BOTTOM, TOP], nice: true });
  const words = names.map((name) => `${name} ${formatDuration(latest.lags.get(name))}`).join(', ');
  return (
    <figure className="lag">
      <svg
        ref={svg}
        className="chart"
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        aria-label={`Lag of ${title} since this page was opened; now: ${words}`}
      >
        {names.map((name, at) => (
          <LinePath
            key={name}
            className={`curve curve-${at % 4}`}
            data={samples.filter(({ lags }) => lags.has(name))}
            x={({ atMs }) => x(atMs)}
            y={({ lags }) => y(lags.get(name) ?? 0)}
          />
        ))}
        <AxisLeft
          scale={y}
          left={LEFT}
          numTicks={3}
          tickFormat={(ms) => formatDuration(Number(ms))}
          hideAxisLine
        />
      </svg>
      <figcaption>Behind, since this page was opened. Now: {words}</figcaption>
    </figure>
  );
};
