/**
 * The clusters of a replication set as known to this one: direction of replication, lag and state.
 * The secondaries are to the right of the primary, on a narrow screen below it.
 */

import chartStyles from '../components/chart.module.css';
import { shortened, useWidth } from '../components/chart.ts';
import { classes } from '../components/classes.ts';
import styles from './cluster-map.module.css';
import { type ClusterNode, clusterNodes } from './cluster-nodes.ts';
import type { Status } from './replication-status.ts';

const [MAX_BOX_WIDTH, BOX_HEIGHT, GAP, LINK_HEIGHT, PADDING] = [270, 74, 18, 40, 12];
/** Below this width the clusters are stacked. */
const NARROW = 640;

interface Place {
  readonly x: number;
  readonly y: number;
}

const Box = ({ node, x, y, width }: { node: ClusterNode; width: number } & Place) => (
  <g>
    <rect
      className={styles['box']}
      data-health={node.health}
      x={x}
      y={y}
      width={width}
      height={BOX_HEIGHT}
      rx={8}
    />
    {[node.name, node.role, node.state].map((text, at) => (
      <text
        // oxlint-disable-next-line react/no-array-index-key -- three fixed lines
        key={at}
        x={x + PADDING}
        y={y + 22 + at * 20}
        className={at === 0 ? styles['name'] : undefined}
      >
        {shortened(text, width - 2 * PADDING)}
      </text>
    ))}
  </g>
);

interface Layout {
  readonly boxWidth: number;
  readonly height: number;
  readonly primary: Place;
  /** The box of a secondary, its line from the primary, and the place of the lag on the line. */
  readonly secondary: (at: number) => {
    readonly box: Place;
    readonly line: string;
    readonly lag: Place & { readonly textAnchor: 'middle' | 'start' };
  };
}

const sideBySide = (width: number, count: number): Layout => {
  const boxWidth = Math.min(MAX_BOX_WIDTH, width * 0.36);
  const height = Math.max(1, count) * (BOX_HEIGHT + GAP);
  const primary = { x: 0, y: (height - GAP - BOX_HEIGHT) / 2 };
  const from = primary.y + BOX_HEIGHT / 2;
  return {
    boxWidth,
    height,
    primary,
    secondary: (at) => {
      const box = { x: width - boxWidth, y: at * (BOX_HEIGHT + GAP) };
      const to = box.y + BOX_HEIGHT / 2;
      return {
        box,
        line: `M${boxWidth} ${from}C${width / 2} ${from} ${width / 2} ${to} ${box.x} ${to}`,
        lag: { x: width / 2, y: to - 8, textAnchor: 'middle' },
      };
    },
  };
};

const stacked = (width: number, count: number): Layout => {
  const boxWidth = width - 2 * PADDING;
  const step = BOX_HEIGHT + LINK_HEIGHT;
  return {
    boxWidth,
    height: BOX_HEIGHT + count * step + GAP,
    primary: { x: 0, y: 0 },
    secondary: (at) => {
      const box = { x: 2 * PADDING, y: (at + 1) * step };
      const to = box.y + BOX_HEIGHT / 2;
      return {
        box,
        line: `M${PADDING} ${BOX_HEIGHT}V${to}H${box.x}`,
        lag: { x: box.x, y: box.y - 12, textAnchor: 'start' },
      };
    },
  };
};

export const ClusterMap = ({ title, status }: { title: string; status: Status }) => {
  const [svg, width] = useWidth();
  const { primary, secondaries } = clusterNodes(status);
  const layout = (width < NARROW ? stacked : sideBySide)(width, secondaries.length);
  const words = [
    `${title}: ${primary.name}, ${primary.role}, ${primary.state}`,
    ...secondaries.map(({ name, role, state, behind }) => `${name}, ${role}, ${state}, ${behind}`),
  ].join('; ');
  return (
    <svg
      ref={svg}
      className={classes(chartStyles['chart'], styles['cluster-map'])}
      viewBox={`0 0 ${width} ${layout.height}`}
      role="img"
      aria-label={words}
    >
      {secondaries.map((node, at) => {
        const { box, line, lag } = layout.secondary(at);
        return (
          <g key={node.name}>
            <path className={styles['link']} data-health={node.health} d={line} />
            <text {...lag}>{node.behind}</text>
            <Box node={node} {...box} width={layout.boxWidth} />
          </g>
        );
      })}
      <Box node={primary} {...layout.primary} width={layout.boxWidth} />
    </svg>
  );
};
