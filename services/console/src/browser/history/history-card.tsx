/** Charts of what the services have counted, over the last hour, day or 30 days. */
import type { UseQueryResult } from '@tanstack/react-query';
import { type Command, Commands } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { Details, Summary } from '../components/details.tsx';
import { Label, SelectField } from '../components/fields.tsx';
import { formatExactTime } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty } from '../components/page.tsx';
import { PartHeading, Unseen } from '../components/text.tsx';
import { ChartLegend, type ChartTone, TimeChart } from '../components/time-chart.tsx';
import { WebLink } from '../components/web-link.tsx';
import styles from './history-card.module.css';
import { type Numbers, PERIODS, type Period, timesOf, timeTextOf } from './numbers.ts';

export interface HistorySeries {
  /** The name in the answer of the server. */
  readonly key: string;
  readonly name: string;
  readonly tone: ChartTone;
}

export interface HistoryChart {
  readonly title: string;
  readonly shape: 'bars' | 'lines';
  /** Whether the values of intervals add up, as counts do and durations do not. */
  readonly addsUp: boolean;
  readonly series: readonly HistorySeries[];
  readonly valueText?: (value: number) => string;
}

const plainText = (value: number): string => value.toLocaleString();

/** Whether there is nothing to see at a value: durations may be 0. */
const isNothing = (value: number | null, { addsUp }: HistoryChart): boolean =>
  value === null || (addsUp && value === 0);

/** "12 issued" of a count, "median at most 40 ms" of a duration. */
const wordsOf = (
  { key, name }: HistorySeries,
  { addsUp, valueText = plainText }: HistoryChart,
  { series }: Numbers,
): string => {
  const known = (series[key] ?? []).filter((value) => value !== null);
  const sum = known.reduce((total, value) => total + value, 0);
  if (addsUp) return `${valueText(sum)} ${name}`;
  return `${name} at most ${known.length === 0 ? 'unknown' : valueText(Math.max(...known))}`;
};

const Chart = (props: { chart: HistoryChart; numbers: Numbers; period: Period }) => {
  const { chart, numbers, period } = props;
  const { title, shape, series, valueText = plainText } = chart;
  const valuesOf = (key: string) => numbers.series[key] ?? [];
  const times = timesOf(numbers);
  const isEmpty = series.every(({ key }) =>
    valuesOf(key).every((value) => isNothing(value, chart)),
  );
  const words = series.map((one) => wordsOf(one, chart, numbers));
  const rows = times.flatMap((ms, at) =>
    series.every(({ key }) => isNothing(valuesOf(key)[at] ?? null, chart)) ? [] : [{ ms, at }],
  );
  return (
    <figure className={styles['chart']}>
      <PartHeading className={styles['title']}>{title}</PartHeading>
      {isEmpty ? (
        <Empty>Nothing in {PERIODS[period]}.</Empty>
      ) : (
        <>
          <TimeChart
            label={`${title} in ${PERIODS[period]}: ${words.join(', ')}`}
            times={times}
            series={series.map(({ key, name, tone }) => ({ name, tone, values: valuesOf(key) }))}
            shape={shape}
            timeText={timeTextOf(period)}
            valueText={valueText}
          />
          <figcaption className={styles['caption']}>
            <ChartLegend series={series.map(({ tone }, at) => ({ tone, name: words[at] ?? '' }))} />
          </figcaption>
          <Details>
            <Summary>{title} as a table</Summary>
            <DataTable
              label={`${title} in ${PERIODS[period]}`}
              rows={rows.toReversed()}
              keyOf={({ ms }) => String(ms)}
              columns={[
                {
                  title: 'From',
                  isName: true,
                  cell: ({ ms }) => (
                    <time dateTime={new Date(ms).toISOString()}>{formatExactTime(ms)}</time>
                  ),
                },
                ...series.map(({ key, name }) => ({
                  title: name,
                  cell: ({ at }: { at: number }) => {
                    const value = valuesOf(key)[at] ?? null;
                    return value === null ? '–' : valueText(value);
                  },
                })),
              ]}
            />
          </Details>
        </>
      )}
    </figure>
  );
};

/** Charts with the choice of their period. */
export function HistoryCard<Data>(props: {
  title: string;
  charts: readonly HistoryChart[];
  period: Period;
  onPeriod: (period: Period) => void;
  query: UseQueryResult<Data | null>;
  numbersOf: (data: Data) => Numbers;
  /** Reads the same numbers. */
  command: Command;
  /** A dashboard with more than these charts. */
  grafanaUrl?: string | undefined;
}) {
  const { title, charts, period, onPeriod, query, numbersOf, grafanaUrl } = props;
  return (
    <Card
      title={title}
      actions={
        <>
          {grafanaUrl !== undefined && <WebLink href={grafanaUrl} text="Dashboard in Grafana" />}
          <Label className={styles['period']}>
            <Unseen>Period of {title}</Unseen>
            <SelectField value={period} onChange={({ target }) => onPeriod(target.value as Period)}>
              {Object.entries(PERIODS).map(([value, words]) => (
                <option key={value} value={value}>
                  {words}
                </option>
              ))}
            </SelectField>
          </Label>
        </>
      }
    >
      <Loaded query={query}>
        {(data) =>
          data !== null && (
            <div className={styles['charts']}>
              {charts.map((chart) => (
                <Chart key={chart.title} chart={chart} numbers={numbersOf(data)} period={period} />
              ))}
            </div>
          )
        }
      </Loaded>
      <Commands commands={[props.command]} />
    </Card>
  );
}
