/** The dependencies of the changed resources as a picture, and as a table for everybody else. */
import { useMemo, useState } from 'react';
import chartStyles from '../../components/chart.module.css';
import { shortened } from '../../components/chart.ts';
import { classes } from '../../components/classes.ts';
import { DataTable } from '../../components/data-table.tsx';
import { Details, Summary } from '../../components/details.tsx';
import { counted } from '../../components/format.ts';
import { Code, Hint } from '../../components/text.tsx';
import { KIND_WORDS } from './changed-thing.tsx';
import type { PlanJson } from './plan-json.ts';
import { columnsOf, type GraphNode, resourceGraph } from './resource-graph.ts';
import styles from './resource-graph-view.module.css';

/** Resources in a picture; with more of them nobody sees anything. */
const MAX_DRAWN = 60;
const [BOX, GAP, ROW, HEIGHT, MARGIN] = [230, 60, 40, 28, 8] as const;

interface Place {
  readonly node: GraphNode;
  readonly x: number;
  readonly y: number;
}

const placesOf = (nodes: readonly GraphNode[]): ReadonlyMap<string, Place> => {
  const columns = columnsOf(nodes);
  const groups = Map.groupBy(nodes, ({ address }) => columns.get(address) ?? 0);
  return new Map(
    [...groups].flatMap(([column, group]) =>
      group.map((node, at) => [
        node.address,
        { node, x: MARGIN + column * (BOX + GAP), y: MARGIN + at * ROW },
      ]),
    ),
  );
};

const Drawing = ({ nodes }: { nodes: readonly GraphNode[] }) => {
  const places = [...placesOf(nodes).values()];
  const at = new Map(places.map((place) => [place.node.address, place]));
  const width = Math.max(...places.map(({ x }) => x)) + BOX + MARGIN;
  const height = Math.max(...places.map(({ y }) => y)) + ROW + MARGIN;
  return (
    // It is wider than the page when much depends on each other; the keyboard scrolls what has the focus.
    <section className={styles['graph']} aria-label="Picture of the dependencies" tabIndex={0}>
      <svg
        className={classes(chartStyles['chart'], styles['drawing'])}
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`Dependencies of ${counted(nodes.length, 'resource')}, which the table below names`}
      >
        {places.flatMap(({ node, x, y }) =>
          node.dependsOn.map((one) => {
            const from = at.get(one);
            if (from === undefined) return null;
            const [startX, startY] = [from.x + BOX, from.y + HEIGHT / 2];
            const endY = y + HEIGHT / 2;
            return (
              <path
                key={`${node.address} ${one}`}
                className={classes(chartStyles['branch'], styles['branch'])}
                d={`M${startX} ${startY}C${startX + GAP / 2} ${startY} ${x - GAP / 2} ${endY} ${x - 6} ${endY}m-5 -4l5 4l-5 4`}
              />
            );
          }),
        )}
        {places.map(({ node: { address, kind, count }, x, y }) => (
          <g key={address} className={styles['node']} data-kind={kind}>
            <title>{`${address} ${KIND_WORDS[kind].resource}`}</title>
            <rect className={styles['box']} x={x} y={y} width={BOX} height={HEIGHT} rx={5} />
            <text className={styles['address']} x={x + 8} y={y + 18}>
              <tspan className={styles['sign']}>{KIND_WORDS[kind].sign}</tspan>{' '}
              {shortened(count > 1 ? `${address} ×${count}` : address, BOX - 24)}
            </text>
          </g>
        ))}
      </svg>
    </section>
  );
};

const Table = ({ nodes }: { nodes: readonly GraphNode[] }) => (
  <DataTable
    label="Dependencies"
    rows={nodes}
    keyOf={({ address }) => address}
    columns={[
      { title: 'Resource', isName: true, cell: ({ address }) => <Code>{address}</Code> },
      {
        title: 'Change',
        cell: ({ kind, count }) =>
          `${KIND_WORDS[kind].resource}${count > 1 ? ` (${count.toLocaleString()})` : ''}`,
      },
      {
        title: 'Depends on',
        cell: ({ dependsOn }) =>
          dependsOn.length === 0 ? '–' : <Code>{dependsOn.join(', ')}</Code>,
      },
    ]}
  />
);

const Graph = ({ plan }: { plan: PlanJson }) => {
  const nodes = useMemo(() => resourceGraph(plan), [plan]);
  if (nodes === undefined)
    return <Hint>The plan changes too many resources to show what depends on what.</Hint>;
  return (
    <>
      {nodes.length <= MAX_DRAWN ? (
        <Drawing nodes={nodes} />
      ) : (
        <Hint>
          A picture of {counted(nodes.length, 'resource')} would show nothing; the table names them.
        </Hint>
      )}
      <Table nodes={nodes} />
      <Hint>
        An arrow leads to what depends on it. References over local values are not in a plan.
      </Hint>
    </>
  );
};

/** Nothing for a plan without references between resources. */
export const ResourceGraphView = ({ plan }: { plan: PlanJson }) => {
  const [isOpen, setOpen] = useState(false);
  if (plan.configuration === undefined || (plan.resource_changes ?? []).length === 0) return null;
  return (
    <Details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <Summary>Dependencies</Summary>
      {isOpen && <Graph plan={plan} />}
    </Details>
  );
};
