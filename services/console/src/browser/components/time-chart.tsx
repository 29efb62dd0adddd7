/** Values over time, as bars or lines: the one chart of the console. */
import { AxisBottom, AxisLeft } from '@visx/axis';
import { scaleLinear } from '@visx/scale';
import { Bar, LinePath } from '@visx/shape';
import chartStyles from './chart.module.css';
import { useWidth } from './chart.ts';
import { AXIS_LOOK } from './chart-axis.ts';
import styles from './time-chart.module.css';

const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [170, 56, 4, 8, 28];
const PIXELS_PER_TIME = 90;
const Y_TICKS = 4;
/** Part of an interval that its bar covers. */
const BAR_PART = 0.8;

export type ChartTone = 'accent' | 'good' | 'warn' | 'bad';

export interface ChartSeries {
  readonly name: string;
  readonly tone: ChartTone;
  /** A value for each time; null where none is known. */
  readonly values: readonly (number | null)[];
}

export interface TimeChartProps {
  /** Says what a screen shows by the drawing. */
  readonly label: string;
  /** Ascending; bars cover the interval that begins with each, and these are of equal length. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  /** Bars of several series stand on each other. */
  readonly shape: 'bars' | 'lines';
  readonly timeText: (ms: number) => string;
  readonly valueText: (value: number) => string;
  /** The axis of values reaches at least so far. */
  readonly least?: number;
  /** The axis of time reaches at least so far; lines begin at its left. */
  readonly leastSpanMs?: number;
}

const highestOf = ({ series, times, shape, least = 1 }: TimeChartProps): number =>
  times.reduce((highest, _, at) => {
    const values = series.map(({ values: own }) => own[at] ?? 0);
    const here =
      shape === 'bars' ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values);
    return Math.max(highest, here);
  }, least);

/** Times whose words have room below the axis, up to a place at its right. */
const spacedOut = (
  times: readonly number[],
  placeOf: (ms: number) => number,
  right: number,
): number[] => {
  const shown: number[] = [];
  let next = 0;
  for (const ms of times) {
    const place = placeOf(ms);
    if (place < next || place > right) continue;
    shown.push(ms);
    next = place + PIXELS_PER_TIME;
  }
  return shown;
};

export const TimeChart = (props: TimeChartProps) => {
  const { label, times, series, shape, timeText, valueText, leastSpanMs = 1 } = props;
  const [svg, width] = useWidth();
  const [first = 0, second = first + 1] = times;
  const last = times.at(-1) ?? first;
  const step = second - first;
  const x = scaleLinear({
    domain: [first, Math.max(shape === 'bars' ? last + step : last, first + leastSpanMs)],
    range: [LEFT, width - RIGHT],
  });
  const y = scaleLinear({
    domain: [0, highestOf(props)],
    range: [HEIGHT - BOTTOM, TOP],
    nice: true,
  });
  const barWidth = Math.max(1, (x(first + step) - x(first)) * BAR_PART);
  const below = (seriesAt: number, at: number): number =>
    series.slice(0, seriesAt).reduce((sum, { values }) => sum + (values[at] ?? 0), 0);
  return (
    <svg
      ref={svg}
      className={chartStyles['chart']}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      role="img"
      aria-label={label}
    >
      {shape === 'bars'
        ? series.flatMap(({ name, tone, values }, seriesAt) =>
            times.flatMap((ms, at) => {
              const value = values[at] ?? 0;
              const from = below(seriesAt, at);
              return value === 0
                ? []
                : [
                    <Bar
                      key={`${name} ${ms}`}
                      className={styles['bar'] ?? ''}
                      data-tone={tone}
                      x={x(ms)}
                      y={y(from + value)}
                      width={barWidth}
                      height={y(from) - y(from + value)}
                    />,
                  ];
            }),
          )
        : series.map(({ name, tone, values }) => (
            <LinePath
              key={name}
              className={styles['curve'] ?? ''}
              data-tone={tone}
              data={times.map((ms, at) => [ms, values[at] ?? null] as const)}
              defined={([, value]) => value !== null}
              x={([ms]) => x(ms)}
              y={([, value]) => y(value ?? 0)}
            />
          ))}
      <AxisBottom
        {...AXIS_LOOK}
        scale={x}
        top={HEIGHT - BOTTOM}
        tickFormat={(ms) => timeText(Number(ms))}
        tickValues={spacedOut(times, x, width - PIXELS_PER_TIME / 3)}
        hideTicks
      />
      <AxisLeft
        {...AXIS_LOOK}
        scale={y}
        left={LEFT}
        numTicks={Math.min(Y_TICKS, Math.ceil(y.domain()[1] ?? 1))}
        tickFormat={(value) => valueText(Number(value))}
        hideAxisLine
      />
    </svg>
  );
};

/** The names of the series, each with its colour. */
export const ChartLegend = ({ series }: { series: readonly Omit<ChartSeries, 'values'>[] }) => (
  <ul className={styles['legend']}>
    {series.map(({ name, tone }) => (
      <li key={name} className={styles['name']} data-tone={tone}>
        {name}
      </li>
    ))}
  </ul>
);
