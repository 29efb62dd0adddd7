import { useEffect, useRef, useState } from 'react';
import { useFollowedLog } from './follow-log.ts';

const NEAR_END_PX = 40;

/** The log of a phase. The end stays in view as it grows, until the reader scrolls up. */
export const LogView = (props: { label: string; phaseId: string; url: string | undefined }) => {
  const { blocks, isWhole } = useFollowedLog(props.phaseId, props.url);
  const box = useRef<HTMLElement>(null);
  const [isFollowing, setFollowing] = useState(true);
  useEffect(() => {
    if (isFollowing && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [blocks, isFollowing]);
  const follow = (): void => {
    const { current } = box;
    if (current === null) return;
    const left = current.scrollHeight - current.scrollTop - current.clientHeight;
    setFollowing(left < NEAR_END_PX);
  };
  return (
    <section className="log" aria-label={props.label} tabIndex={0} ref={box} onScroll={follow}>
      {blocks.map((block, at) => (
        <pre key={`${at}`}>{block}</pre>
      ))}
      {blocks.length === 0 && <p className="empty">No line of the log is there yet.</p>}
      {blocks.length > 0 && !isWhole && <p className="empty">More lines follow…</p>}
    </section>
  );
};
