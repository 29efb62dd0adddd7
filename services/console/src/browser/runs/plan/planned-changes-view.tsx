/** The changes of a finished plan: filters, and a list that draws what is in view. */
import { useQuery } from '@tanstack/react-query';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { ApiProblem } from '../../api/api-problem.ts';
import { useSession } from '../../api/session.ts';
import { callWorkspaces } from '../../api/workspaces-api.ts';
import { Empty } from '../../components/page.tsx';
import { Hint, PartHeading } from '../../components/text.tsx';
import { type ChangeFilter, ChangeFilters, NO_FILTER } from './change-filters.tsx';
import { ChangedThing, KIND_WORDS } from './changed-thing.tsx';
import styles from './changes.module.css';
import { PlanChecks } from './plan-checks.tsx';
import type { PlanJson } from './plan-json.ts';
import {
  driftChanges,
  outputChanges,
  type ResourceChange,
  resourceChanges,
} from './planned-changes.ts';
import { ResourceGraphView } from './resource-graph-view.tsx';

/** A line of the list. */
type Row =
  | { readonly key: string; readonly heading: string }
  | { readonly key: string; readonly change: ResourceChange };

const ROW_PX = 34;
/** Rows that are drawn beyond the window. */
const OVERSCAN = 12;

const isShown = (change: ResourceChange, { kind, text }: ChangeFilter): boolean =>
  (kind === 'all' || kind === change.kind) &&
  (text === '' || change.address.toLowerCase().includes(text.toLowerCase()));

const toRows = (changes: readonly ResourceChange[], { group }: ChangeFilter): readonly Row[] => {
  const titleOf = ({ kind, module }: ResourceChange): string => {
    if (group === 'action') return KIND_WORDS[kind].heading;
    return module === '' ? 'Root module' : module;
  };
  const grouped = Map.groupBy(changes, titleOf);
  return [...grouped].flatMap(([heading, group]): Row[] => [
    ...(grouped.size > 1
      ? [{ key: `of ${heading}`, heading: `${heading} (${group.length})` }]
      : []),
    ...group.map((change) => ({ key: `${change.kind} ${change.address}`, change })),
  ]);
};

const ChangeList = ({ rows }: { rows: readonly Row[] }) => {
  const list = useRef<HTMLDivElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => {
    const box = list.current?.getBoundingClientRect();
    if (box !== undefined) setOffset(box.top + scrollY);
  }, []);
  // Which rows are open is kept here, since a row that is not drawn forgets it.
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (key: string): void =>
    setOpen((known) => {
      const next = new Set(known);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    scrollMargin: offset,
    getItemKey: (at) => rows[at]?.key ?? at,
  });
  const place = (at: number, start: number, content: ReactNode) => (
    <div
      key={rows[at]?.key}
      ref={virtualizer.measureElement}
      data-index={at}
      className={styles['row']}
      style={{ transform: `translateY(${start - offset}px)` }}
    >
      {content}
    </div>
  );
  return (
    <div ref={list} className={styles['list']} style={{ height: virtualizer.getTotalSize() }}>
      {virtualizer.getVirtualItems().map(({ index, start }) => {
        const row = rows[index];
        if (row === undefined) return null;
        return place(
          index,
          start,
          'heading' in row ? (
            <PartHeading className={styles['heading']}>{row.heading}</PartHeading>
          ) : (
            <ChangedThing
              change={row.change}
              isOpen={open.has(row.key)}
              onToggle={() => toggle(row.key)}
            />
          ),
        );
      })}
    </div>
  );
};

const Changes = ({ plan }: { plan: PlanJson }) => {
  const [filter, setFilter] = useState(NO_FILTER);
  const changes = useMemo(() => resourceChanges(plan), [plan]);
  const drift = useMemo(() => driftChanges(plan), [plan]);
  const outputs = useMemo(() => outputChanges(plan), [plan]);
  const rows = useMemo(
    () =>
      toRows(
        (filter.kind === 'drift' ? drift : changes).filter((change) =>
          isShown(change, filter.kind === 'drift' ? { ...filter, kind: 'all' } : filter),
        ),
        filter,
      ),
    [changes, drift, filter],
  );
  const hasOutputs = filter.kind === 'all' || filter.kind === 'outputs';
  const shownOutputs = hasOutputs
    ? outputs.filter(({ name }) => name.toLowerCase().includes(filter.text.toLowerCase()))
    : [];
  return (
    <div className={styles['changes']}>
      <PlanChecks plan={plan} />
      <ChangeFilters
        changes={changes}
        outputs={outputs.length}
        drift={drift.length}
        filter={filter}
        onFilter={setFilter}
      />
      {filter.kind === 'drift' && (
        <Hint>
          These were changed outside of the tool since its last run. The plan has taken that into
          account.
        </Hint>
      )}
      {rows.length === 0 && shownOutputs.length === 0 && (
        <Empty>{filter === NO_FILTER ? 'Nothing changes.' : 'Nothing fits the filter.'}</Empty>
      )}
      {filter.kind !== 'outputs' && rows.length > 0 && (
        <ChangeList key={`${filter.kind} ${filter.group}`} rows={rows} />
      )}
      {shownOutputs.length > 0 && <PartHeading>Outputs ({shownOutputs.length})</PartHeading>}
      {shownOutputs.map((output) => (
        <ChangedThing
          key={output.name}
          change={{ ...output, address: output.name }}
          words={KIND_WORDS[output.kind].output}
        />
      ))}
      <ResourceGraphView plan={plan} />
    </div>
  );
};

/**
 * Changes of a finished plan; renders nothing if the plan's JSON is gone or the user may not read
 * it.
 */
export const PlannedChangesView = ({ planId }: { planId: string }) => {
  const { workspaces } = useSession();
  const { data: plan, error } = useQuery({
    queryKey: ['plan-json', workspaces, planId],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) =>
      (await callWorkspaces<PlanJson | undefined>('GET', `plans/${planId}/json-output-redacted`, {
        signal,
      })) ?? null,
  });
  if (error instanceof ApiProblem && error.status === 404) return null;
  if (plan === undefined || plan === null) return null;
  return <Changes plan={plan} />;
};
