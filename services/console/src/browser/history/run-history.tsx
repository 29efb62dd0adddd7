/** Charts of the runs of a workspace or an organization. */
import { useState } from 'react';
import { useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import type { OneDocument } from '../api/workspaces-api.ts';
import { workspacesCurl } from '../components/commands.tsx';
import { HistoryCard, type HistoryChart } from './history-card.tsx';
import { type Numbers, type Period, REFRESH_MS } from './numbers.ts';

type Statistics = ResourceAttributes['run-statistics'];

const CHARTS: readonly HistoryChart[] = [
  {
    title: 'Runs by their start',
    shape: 'bars',
    addsUp: true,
    series: [
      { key: 'finished', name: 'finished', tone: 'good' },
      { key: 'errored', name: 'errored', tone: 'bad' },
      { key: 'open', name: 'not ended', tone: 'accent' },
    ],
  },
  {
    title: 'Time in the queue',
    shape: 'lines',
    addsUp: false,
    series: [{ key: 'queue', name: 'mean', tone: 'accent' }],
    valueText: (seconds) =>
      seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toLocaleString()} s`,
  },
];

const toNumbers = ({ data: { attributes } }: OneDocument<Statistics>): Numbers => {
  const { created, finished, errored } = attributes;
  return {
    startMs: Date.parse(attributes['start-at']),
    stepMs: attributes['step-seconds'] * 1000,
    series: {
      finished,
      errored,
      open: created.map((count, at) => count - (finished[at] ?? 0) - (errored[at] ?? 0)),
      queue: attributes['queue-seconds'],
    },
  };
};

/** @param owner path below `/api/v2` of the workspace or organization */
export const RunHistory = ({ owner }: { owner: string }) => {
  const [period, setPeriod] = useState<Period>('day');
  const path = `${owner}/run-statistics?filter[window]=${period}`;
  const query = useDocument<OneDocument<Statistics> | null>(path, {
    everyMs: REFRESH_MS,
    keepPrevious: true,
  });
  return (
    <HistoryCard
      title="History of runs"
      charts={CHARTS}
      period={period}
      onPeriod={setPeriod}
      query={query}
      numbersOf={toNumbers}
      command={workspacesCurl('GET', path)}
    />
  );
};
