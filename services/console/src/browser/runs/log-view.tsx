import { useLayoutEffect, useRef, useState } from 'react';
import { Button } from '../components/button.tsx';
import { classes } from '../components/classes.ts';
import { FormActions } from '../components/fields.tsx';
import { saveFile } from '../components/save-file.ts';
import { Lines } from '../components/text.tsx';
import { useFollowedLog } from './follow-log.ts';
import styles from './log-view.module.css';

/** Scrolling down to a position this near to the end follows it again. */
const NEAR_END_PX = 40;
/** Positions at the end may differ from it by fractions of a pixel. */
const AT_END_PX = 2;
/** Keys that scroll up. */
const UPWARD_KEYS = ['ArrowUp', 'PageUp', 'Home'];

/**
 * The log of a phase. The end stays in view as it grows, until the reader scrolls up. Every line is
 * in the document, so the browser's own search, selection and reading aloud work; blocks out of view
 * are not drawn.
 */
export const LogView = (props: { label: string; phaseId: string; url: string | undefined }) => {
  const { label, phaseId } = props;
  const { blocks, isWhole } = useFollowedLog(phaseId, props.url);
  const box = useRef<HTMLElement>(null);
  const [isFollowing, setFollowing] = useState(true);
  // Before the browser reports a scroll position, which would belong to the shorter log.
  useLayoutEffect(() => {
    if (isFollowing && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [blocks, isFollowing]);
  const lastTop = useRef(0);
  const follow = (): void => {
    const { current } = box;
    if (current === null) return;
    const left = current.scrollHeight - current.scrollTop - current.clientHeight;
    const isUpward = current.scrollTop < lastTop.current;
    lastTop.current = current.scrollTop;
    setFollowing(left < (isUpward ? AT_END_PX : NEAR_END_PX));
  };
  // The scroll position changes only in a later frame. Lines that arrive before it would bring the end back.
  const leaveEnd = (): void => {
    const { current } = box;
    if (current !== null && current.scrollHeight > current.clientHeight) setFollowing(false);
  };
  const save = (): void =>
    saveFile(`${phaseId}.log`, new Blob([...blocks], { type: 'text/plain' }));
  return (
    <>
      <section
        className={styles['log-view']}
        aria-label={label}
        tabIndex={0}
        ref={box}
        onScroll={follow}
        onWheel={({ deltaY }) => deltaY < 0 && leaveEnd()}
        onKeyDown={({ key }) => UPWARD_KEYS.includes(key) && leaveEnd()}
      >
        {blocks.map((block, at) => (
          <Lines
            key={`${at}`}
            data-block
            className={classes(styles['block'], at === blocks.length - 1 && styles['last'])}
          >
            {block}
          </Lines>
        ))}
        {blocks.length === 0 && <p className={styles['note']}>No line of the log is there yet.</p>}
        {blocks.length > 0 && !isWhole && <p className={styles['note']}>More lines follow…</p>}
      </section>
      <FormActions>
        {blocks.length > 0 && (
          <Button look="small" aria-label={`Download: ${label}`} onClick={save}>
            Download
          </Button>
        )}
        {!isFollowing && (
          <Button look="small" onClick={() => setFollowing(true)}>
            Go to the end
          </Button>
        )}
      </FormActions>
    </>
  );
};
