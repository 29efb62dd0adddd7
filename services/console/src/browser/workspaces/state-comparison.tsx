/** Comparison of two stored states of a workspace, down to their values. */

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiProblem, request } from '../api/api-problem.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { sessionHeaders, useSession } from '../api/session.ts';
import type { Resource } from '../api/workspaces-api.ts';
import { Label, Pair, SelectField } from '../components/fields.tsx';
import { formatTime } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty } from '../components/page.tsx';
import { ChangedThing } from '../runs/plan/changed-thing.tsx';
import changeStyles from '../runs/plan/changes.module.css';
import { type StateFile, stateDifference } from './state-difference.ts';

export type StateVersion = ResourceAttributes['state-versions'];

const WORDS = { create: 'added', update: 'changed', delete: 'removed' } as const;

/** The stored file. */
export const downloadState = async (
  state: Resource<StateVersion>,
  signal?: AbortSignal,
): Promise<Response> => {
  const { pathname, search } = new URL(
    state.attributes['hosted-state-download-url'] ?? '',
    location.origin,
  );
  const answer = await request(`${pathname}${search}`, {
    ...(signal && { signal }),
    headers: sessionHeaders(),
  });
  if (!answer.ok) throw new ApiProblem(answer.status, `the server answered ${answer.status}`);
  return answer;
};

const StateSelect = (props: {
  label: string;
  states: readonly Resource<StateVersion>[];
  value: string;
  onChange: (id: string) => void;
}) => (
  <Label>
    {props.label}
    <SelectField value={props.value} onChange={({ target }) => props.onChange(target.value)}>
      {props.states.map(({ id, attributes }) => (
        <option key={id} value={id}>
          serial {attributes.serial}, {formatTime(attributes['created-at'])}
        </option>
      ))}
    </SelectField>
  </Label>
);

/** @param states one page of the list, newest first; at least two */
export const StateComparison = ({ states }: { states: readonly Resource<StateVersion>[] }) => {
  const { workspaces } = useSession();
  const [earlierId, setEarlier] = useState(states[1]?.id ?? '');
  const [laterId, setLater] = useState(states[0]?.id ?? '');
  const [earlier, later] = [earlierId, laterId].map((id) => states.find((one) => one.id === id));
  const query = useQuery({
    queryKey: ['state-difference', workspaces, earlierId, laterId],
    staleTime: Number.POSITIVE_INFINITY,
    enabled: earlier !== undefined && later !== undefined,
    queryFn: async ({ signal }) => {
      const files = await Promise.all(
        [earlier, later].map(async (one): Promise<StateFile> => {
          const answer = await downloadState(one as Resource<StateVersion>, signal);
          return (await answer.json()) as StateFile;
        }),
      );
      return stateDifference(files[0] ?? {}, files[1] ?? {});
    },
  });
  return (
    <Card title="Difference">
      <Pair>
        <StateSelect label="From" states={states} value={earlierId} onChange={setEarlier} />
        <StateSelect label="To" states={states} value={laterId} onChange={setLater} />
      </Pair>
      <Loaded query={query}>
        {(changes) =>
          changes.length === 0 ? (
            <Empty>Resources and outputs are the same.</Empty>
          ) : (
            <section className={changeStyles['changes']} aria-label="Changes between the states">
              {changes.map((change) => (
                <ChangedThing key={change.address} change={change} words={WORDS[change.kind]} />
              ))}
            </section>
          )
        }
      </Loaded>
    </Card>
  );
};
