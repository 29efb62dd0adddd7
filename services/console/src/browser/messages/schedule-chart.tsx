/** The schedule of messages drawn on a time line; the table below contains the same as text. */
import { AxisBottom } from '@visx/axis';
import { scaleTime } from '@visx/scale';
import chartStyles from '../components/chart.module.css';
import { columnOf, shortened, useWidth } from '../components/chart.ts';
import { AXIS_LOOK } from '../components/chart-axis.ts';
import { formatTime } from '../components/format.ts';
import type { Message } from './message.ts';
import { scheduleOf, stateOf } from './schedule.ts';
import styles from './schedule-chart.module.css';

const [ROW, BOTTOM, RIGHT] = [30, 28, 10];
export const ScheduleChart = (props: {
  /** Id and message. */
  messages: readonly (readonly [string, Message])[];
  nowMs: number;
}) => {
  const { messages, nowMs } = props;
  const [svg, width] = useWidth();
  const left = columnOf(width);
  const { fromMs, untilMs, bars } = scheduleOf(
    messages.map(([, message]) => message),
    nowMs,
  );
  const height = messages.length * ROW + BOTTOM;
  const x = scaleTime({ domain: [fromMs, untilMs], range: [left, width - RIGHT] });
  const words = messages.map(
    ([, message]) =>
      `${message.title}, from ${formatTime(message.start_time)} ${message.end_time === null ? 'without an end' : `until ${formatTime(message.end_time)}`}`,
  );
  return (
    <svg
      ref={svg}
      className={chartStyles['chart']}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`Schedule: ${words.join('; ')}`}
    >
      {messages.map(([id, message], at) => {
        const bar = bars[at];
        const y = at * ROW + ROW / 2;
        return (
          <g key={id}>
            <text x={0} y={y + 4}>
              {shortened(message.title, left)}
            </text>
            {bar === undefined ? (
              <text x={x(nowMs) + 6} y={y + 4}>
                {stateOf(message, nowMs) === 'over'
                  ? `ended ${formatTime(message.end_time)}`
                  : `from ${formatTime(message.start_time)}`}
              </text>
            ) : (
              <rect
                className={styles['bar']}
                data-state={stateOf(message, nowMs)}
                x={x(bar.fromMs)}
                y={y - 6}
                width={Math.max(3, x(bar.untilMs) - x(bar.fromMs))}
                height={12}
                rx={3}
              />
            )}
          </g>
        );
      })}
      <line
        className={chartStyles['now']}
        x1={x(nowMs)}
        x2={x(nowMs)}
        y1={0}
        y2={height - BOTTOM}
      />
      <AxisBottom
        {...AXIS_LOOK}
        scale={x}
        top={height - BOTTOM}
        numTicks={Math.max(2, Math.floor((width - left) / 90))}
        hideTicks
      />
    </svg>
  );
};
