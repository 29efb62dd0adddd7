/** Issuers of an authority as a tree of signatures, with their validity on a common time axis. */
import { AxisBottom } from '@visx/axis';
import { scaleTime } from '@visx/scale';
import chartStyles from '../components/chart.module.css';
import { columnOf, shortened, useWidth } from '../components/chart.ts';
import { AXIS_LOOK } from '../components/chart-axis.ts';
import { formatTime } from '../components/format.ts';
import styles from './issuer-chain.module.css';
import { type ChainedIssuer, issuerRows } from './issuer-rows.ts';

const [ROW, INDENT, BOTTOM] = [34, 16, 28];

export const IssuerChain = (props: { issuers: readonly ChainedIssuer[]; nowMs: number }) => {
  const [svg, width] = useWidth();
  const rows = issuerRows(props.issuers);
  if (rows.length === 0) return null;
  const height = rows.length * ROW + BOTTOM;
  const x = scaleTime({
    domain: [
      Math.min(props.nowMs, ...rows.map(({ issuer }) => issuer.fromMs)),
      Math.max(props.nowMs, ...rows.map(({ issuer }) => issuer.untilMs)),
    ],
    range: [columnOf(width), width - 10],
  });
  const words = rows
    .map(({ issuer, signer = 'itself or an outside authority' }) => {
      const until = formatTime(issuer.untilMs);
      return `${issuer.name}, signed by ${signer}, valid until ${until}`;
    })
    .join('; ');
  return (
    <figure className={styles['issuer-chain']}>
      <svg
        ref={svg}
        className={chartStyles['chart']}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={words}
      >
        {rows.map(({ issuer, depth, parentAt }, at) => {
          const y = at * ROW + ROW / 2;
          const left = depth * INDENT + 6;
          return (
            <g key={issuer.id}>
              {parentAt !== undefined && (
                <path
                  className={chartStyles['branch']}
                  d={`M${left - INDENT} ${parentAt * ROW + ROW / 2 + 7}V${y}H${left - 4}`}
                />
              )}
              <circle
                className={issuer.isDefault ? styles['default'] : styles['other']}
                cx={left}
                cy={y}
                r={4}
              />
              <text x={left + 10} y={y + 4}>
                {shortened(issuer.name, columnOf(width) - left - 16)}
              </text>
              <rect
                x={x(issuer.fromMs)}
                y={y - 6}
                width={Math.max(2, x(issuer.untilMs) - x(issuer.fromMs))}
                height={12}
                rx={3}
              />
            </g>
          );
        })}
        <line
          className={chartStyles['now']}
          x1={x(props.nowMs)}
          x2={x(props.nowMs)}
          y1={0}
          y2={height - BOTTOM}
        />
        <AxisBottom
          {...AXIS_LOOK}
          scale={x}
          top={height - BOTTOM}
          numTicks={Math.max(2, Math.floor((width - columnOf(width)) / 90))}
          hideTicks
        />
      </svg>
      <figcaption className={styles['caption']}>
        Each line leads from the signer to what it signed; the filled point is the default issuer,
        the upright line is now.
      </figcaption>
    </figure>
  );
};
