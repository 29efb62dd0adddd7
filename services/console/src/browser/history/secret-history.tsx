/** Charts of a history below `/v1`. */
import { useState } from 'react';
import { useCapabilities, useSecret } from '../api/queries.ts';
import { rootCurl, secretsCurl } from '../components/commands.tsx';
import { HistoryCard, type HistoryChart } from './history-card.tsx';
import { type Numbers, type Period, REFRESH_MS } from './numbers.ts';

interface HistoryData {
  readonly start_time: string;
  readonly step_seconds: number;
  readonly series: Numbers['series'];
  readonly grafana_url?: string;
}

const toNumbers = ({ start_time: start, step_seconds: step, series }: HistoryData): Numbers => ({
  startMs: Date.parse(start),
  stepMs: step * 1000,
  series,
});

/** Nothing is shown to a token that may not read the history. */
export const SecretHistory = (props: {
  title: string;
  /** The path of the history, such as "pki/history". */
  path: string;
  /** The namespace of the path, if it is not that of the session. */
  namespace?: string;
  charts: readonly HistoryChart[];
}) => {
  const { title, path, charts } = props;
  const at = props.namespace === undefined ? {} : { namespace: props.namespace };
  const may = useCapabilities([path], at);
  const isAllowed = may(path, 'read');
  const [period, setPeriod] = useState<Period>('day');
  const address = `${path}?window=${period}`;
  const query = useSecret<HistoryData>(address, {
    ...at,
    everyMs: REFRESH_MS,
    keepPrevious: true,
    enabled: isAllowed,
  });
  return isAllowed ? (
    <HistoryCard
      title={title}
      charts={charts}
      period={period}
      onPeriod={setPeriod}
      query={query}
      numbersOf={toNumbers}
      command={(props.namespace === '' ? rootCurl : secretsCurl)('GET', address)}
      grafanaUrl={query.data?.grafana_url}
    />
  ) : null;
};
