/** Stages of a run, with the time that each took. */

export interface Stage {
  readonly title: string;
  readonly state: 'done' | 'current' | 'ahead' | 'ended';
  readonly beganAt: string | undefined;
  /** Undefined while it has not ended. */
  readonly endedAt: string | undefined;
}

interface StagedRun {
  readonly status: string;
  readonly 'created-at': string;
  readonly 'status-timestamps': Readonly<Record<string, string>>;
  readonly 'plan-only': boolean;
}

const ENDS: readonly string[] = ['errored', 'canceled', 'force-canceled', 'discarded'];

/** The times at which the run came to each of the stages. */
const timesOf = ({ 'created-at': created, 'status-timestamps': at }: StagedRun) => {
  const planned = at['planned-at'] ?? at['planned-and-finished-at'] ?? at['planned-and-saved-at'];
  return [
    ['Pending', created],
    ['Plan', at['planning-at']],
    ['Confirm', planned],
    ['Apply', at['confirmed-at'] ?? at['apply-queued-at'] ?? at['applying-at']],
    ['Done', at['applied-at']],
  ] as const;
};

/** In their order; a run that has ended early has the way it ended as its last one. */
export const stagesOf = (run: StagedRun): readonly Stage[] => {
  const { status, 'status-timestamps': at } = run;
  const stopped = ENDS.find((end) => end.replace('-', '_') === status);
  const stoppedAt = stopped === undefined ? undefined : at[`${stopped}-at`];
  const isFinished = status === 'planned_and_finished';
  const times = timesOf(run).filter(
    ([title]) => !((run['plan-only'] || isFinished) && (title === 'Apply' || title === 'Confirm')),
  );
  const reached = times.map(([title, beganAt]) =>
    title === 'Done' && isFinished
      ? ([title, at['planned-and-finished-at']] as const)
      : ([title, beganAt] as const),
  );
  const last = reached.findLastIndex(([, beganAt]) => beganAt !== undefined);
  const stages = reached.map(([title, beganAt], index): Stage => {
    const endedAt = reached.slice(index + 1).find(([, next]) => next !== undefined)?.[1];
    if (index < last) return { title, state: 'done', beganAt, endedAt };
    if (index > last) return { title, state: 'ahead', beganAt, endedAt: undefined };
    const isDone = title === 'Done' || stopped !== undefined;
    return { title, state: isDone ? 'done' : 'current', beganAt, endedAt: stoppedAt };
  });
  if (stopped === undefined) return stages;
  const title = `${stopped.charAt(0).toUpperCase()}${stopped.slice(1).replace('-', ' ')}`;
  return [
    ...stages.filter(({ state }) => state !== 'ahead'),
    { title, state: 'ended', beganAt: stoppedAt, endedAt: undefined },
  ];
};

/** "41 s", "3 min 5 s", "1 h 2 min". */
export const formatDuration = (fromMs: number, toMs: number): string => {
  const seconds = Math.max(0, Math.round((toMs - fromMs) / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};
