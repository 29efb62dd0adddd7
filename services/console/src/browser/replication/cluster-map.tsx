/**
 * The clusters of a replication set as known to this one: direction of replication, lag and state.
 */
import { type ClusterNode, clusterNodes } from './cluster-nodes.ts';
import type { Status } from './replication-status.ts';

const [WIDTH, BOX_W, BOX_H, GAP] = [780, 270, 74, 18];

const Box = ({ node, x, y }: { node: ClusterNode; x: number; y: number }) => (
  <g className={`cluster ${node.health}`}>
    <rect x={x} y={y} width={BOX_W} height={BOX_H} rx={8} />
    <text x={x + 12} y={y + 22} className="name">
      {node.name.length > 30 ? `${node.name.slice(0, 29)}…` : node.name}
    </text>
    <text x={x + 12} y={y + 42}>
      {node.role}
    </text>
    <text x={x + 12} y={y + 61}>
      {node.state}
    </text>
  </g>
);

export const ClusterMap = ({ title, status }: { title: string; status: Status }) => {
  const { primary, secondaries } = clusterNodes(status);
  const rows = Math.max(1, secondaries.length);
  const height = rows * (BOX_H + GAP);
  const primaryY = (height - GAP - BOX_H) / 2;
  const x = WIDTH - BOX_W;
  const words = [
    `${title}: ${primary.name}, ${primary.role}, ${primary.state}`,
    ...secondaries.map(({ name, role, state, behind }) => `${name}, ${role}, ${state}, ${behind}`),
  ].join('; ');
  return (
    <svg
      className="chart clusters"
      viewBox={`0 0 ${WIDTH} ${height}`}
      role="img"
      aria-label={words}
    >
      {secondaries.map((node, at) => {
        const y = at * (BOX_H + GAP);
        const middle = y + BOX_H / 2;
        return (
          <g key={node.name}>
            <path
              className={`link ${node.health}`}
              d={`M${BOX_W} ${primaryY + BOX_H / 2}C${WIDTH / 2} ${primaryY + BOX_H / 2} ${WIDTH / 2} ${middle} ${x} ${middle}`}
            />
            <text x={WIDTH / 2} y={middle - 8} textAnchor="middle">
              {node.behind}
            </text>
            <Box node={node} x={x} y={y} />
          </g>
        );
      })}
      <Box node={primary} x={0} y={primaryY} />
    </svg>
  );
};
