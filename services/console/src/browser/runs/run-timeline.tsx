import { useEffect, useState } from 'react';
import { formatExactTime } from '../components/format.ts';
import { Small } from '../components/text.tsx';
import type { RunAttributes } from './run.ts';
import { formatDuration, type Stage, stagesOf } from './run-stages.ts';
import styles from './run-timeline.module.css';

/** The time of now, once a second while something goes on. */
const useNow = (isRunning: boolean): number => {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => setNowMs(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return nowMs;
};

const tookOf = ({ state, beganAt, endedAt, title }: Stage, nowMs: number): string | undefined => {
  if (beganAt === undefined || state === 'ended' || title === 'Done') return undefined;
  if (endedAt === undefined && state !== 'current') return undefined;
  return formatDuration(Date.parse(beganAt), endedAt === undefined ? nowMs : Date.parse(endedAt));
};

/** The stages of a run in a row, with the seconds that each took. */
export const RunTimeline = ({ run }: { run: RunAttributes }) => {
  const stages = stagesOf(run);
  const nowMs = useNow(stages.some(({ state }) => state === 'current'));
  return (
    <ol className={styles['stages']} aria-label="Stages">
      {stages.map((stage) => (
        <li
          key={stage.title}
          className={styles['stage']}
          data-state={stage.state}
          aria-current={stage.state === 'current' ? 'step' : undefined}
          title={stage.beganAt === undefined ? undefined : formatExactTime(stage.beganAt)}
        >
          {stage.title} <Small>{tookOf(stage, nowMs)}</Small>
        </li>
      ))}
    </ol>
  );
};
