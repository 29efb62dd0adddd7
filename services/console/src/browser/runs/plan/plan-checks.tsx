/** The checks of a plan: conditions of the configuration that the tool has evaluated. */
import { useMemo } from 'react';
import { DataTable } from '../../components/data-table.tsx';
import { Details, Summary } from '../../components/details.tsx';
import { counted } from '../../components/format.ts';
import { Pill, type Tone } from '../../components/pill.tsx';
import { Code, Under } from '../../components/text.tsx';
import type { PlanJson } from './plan-json.ts';
import { type CheckStatus, type PlannedCheck, plannedChecks } from './planned-checks.ts';

const WORDS: Readonly<Record<CheckStatus, readonly [tone: Tone, words: string]>> = {
  fail: ['bad', 'fails'],
  error: ['bad', 'cannot be evaluated'],
  unknown: ['plain', 'known after apply'],
  pass: ['good', 'passes'],
};

const Checks = ({ checks }: { checks: readonly PlannedCheck[] }) => (
  <DataTable
    label="Checks"
    rows={checks}
    keyOf={({ address }) => address}
    columns={[
      { title: 'Condition of', isName: true, cell: ({ address }) => <Code>{address}</Code> },
      {
        title: 'Result',
        cell: ({ status, problems }) => {
          const [tone, words] = WORDS[status];
          return (
            <>
              <Pill tone={tone}>{words}</Pill>
              {problems.map((problem) => (
                <Under key={problem}>{problem}</Under>
              ))}
            </>
          );
        },
      },
    ]}
  />
);

/** Checks that do not pass are open; nothing for a plan without checks. */
export const PlanChecks = ({ plan }: { plan: PlanJson }) => {
  const checks = useMemo(() => plannedChecks(plan), [plan]);
  if (checks.length === 0) return null;
  const bad = checks.filter(({ status }) => status === 'fail' || status === 'error').length;
  return (
    <Details open={bad > 0}>
      <Summary>
        Checks: {counted(checks.length, 'condition')}
        {bad > 0 && `, ${bad.toLocaleString()} not met`}
      </Summary>
      <Checks checks={checks} />
    </Details>
  );
};
