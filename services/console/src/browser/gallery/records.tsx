/** States, tables, charts and changes. */
import { useState } from 'react';
import { type Column, DataTable } from '../components/data-table.tsx';
import { FactList } from '../components/fact-list.tsx';
import { Card } from '../components/page.tsx';
import { Pager } from '../components/pager.tsx';
import { Pill, type Tone } from '../components/pill.tsx';
import { useSelection } from '../components/selection.tsx';
import { Code } from '../components/text.tsx';
import { ChartLegend, type ChartSeries, TimeChart } from '../components/time-chart.tsx';
import { ChangedThing, KIND_WORDS } from '../runs/plan/changed-thing.tsx';
import type { ChangeKind } from '../runs/plan/planned-changes.ts';

const STATES: readonly (readonly [string, Tone])[] = [
  ['applied', 'good'],
  ['planning', 'busy'],
  ['needs a person', 'accent'],
  ['errored', 'bad'],
  ['discarded', 'plain'],
];

interface Run {
  readonly id: string;
  readonly message: string;
  readonly state: (typeof STATES)[number];
}

const RUNS: readonly Run[] = STATES.map((state, at) => ({
  id: `run-${at}`,
  message: `Move to gateway ${at}`,
  state,
}));

const COLUMNS: readonly Column<Run>[] = [
  { title: 'Message', cell: ({ message }) => message, isName: true, sort: 'message' },
  { title: 'State', cell: ({ state: [words, tone] }) => <Pill tone={tone}>{words}</Pill> },
  { title: 'Id', cell: ({ id }) => <Code>{id}</Code>, isUnbroken: true },
];

const Tables = () => {
  const [by, onChange] = useState('message');
  const selection = useSelection<Run>('', ({ message }) => message);
  const common = { columns: COLUMNS, keyOf: ({ id }: Run) => id };
  return (
    <Card title="Tables">
      <DataTable
        label="Runs"
        rows={RUNS}
        order={{ by, onChange }}
        selection={selection}
        {...common}
      />
      <Pager
        pagination={{ 'current-page': 2, 'total-pages': 21, 'total-count': 1013 }}
        onPage={() => undefined}
      />
      <DataTable label="No runs" rows={[]} empty="No run has this state." {...common} />
      <FactList
        facts={[
          ['Created', '2 May 2026, 10:00'],
          ['Id', <Code key="id">ws-1</Code>],
        ]}
      />
    </Card>
  );
};

const HOUR_MS = 3_600_000;
const TIMES = Array.from({ length: 24 }, (_, hour) => hour * HOUR_MS);
const seriesOf = (name: string, tone: ChartSeries['tone'], phase: number): ChartSeries => ({
  name,
  tone,
  values: TIMES.map((_, hour) => Math.round(10 + 8 * Math.sin(hour / 3 + phase))),
});
const SERIES = [seriesOf('Issued', 'good', 0), seriesOf('Revoked', 'bad', 2)];

const Charts = () => (
  <Card title="Charts">
    {(['bars', 'lines'] as const).map((shape) => (
      <TimeChart
        key={shape}
        label={`Certificates by hour, as ${shape}`}
        times={TIMES}
        series={SERIES}
        shape={shape}
        timeText={(ms) => `${ms / HOUR_MS}:00`}
        valueText={String}
      />
    ))}
    <ChartLegend series={SERIES} />
  </Card>
);

const VALUES = [
  { path: 'tags.Name', before: '"old"', after: '"new"' },
  { path: 'id', before: undefined, after: '(known after apply)' },
  {
    path: 'policy',
    before: undefined,
    after: undefined,
    lines: [
      { sign: ' ', text: '{' },
      { sign: '-', text: '  "effect": "deny"' },
      { sign: '+', text: '  "effect": "allow"' },
      { sign: ' ', text: '}' },
    ],
  },
] as const;

const Changes = () => (
  <Card title="Changes of a plan">
    {(Object.keys(KIND_WORDS) as ChangeKind[]).map((kind) => (
      <ChangedThing
        key={kind}
        change={{ address: `terraform_data.${kind}`, kind, values: VALUES }}
        isOpen={kind === 'update'}
        onToggle={() => undefined}
      />
    ))}
  </Card>
);

export const Records = () => (
  <>
    <Tables />
    <Charts />
    <Changes />
  </>
);
