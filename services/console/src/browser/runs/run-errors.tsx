import cardStyles from '../components/card.module.css';
import { classes } from '../components/classes.ts';
import { Lines } from '../components/text.tsx';
import { useFollowedLog } from './follow-log.ts';
import { errorsIn } from './log-errors.ts';
import styles from './run-errors.module.css';

/** Why a phase has failed, cut out of its log. */
export const RunErrors = (props: { phaseId: string; url: string | undefined }) => {
  const { blocks, isWhole } = useFollowedLog(props.phaseId, props.url);
  const errors = isWhole ? errorsIn(blocks.join('')) : [];
  if (errors.length === 0) return null;
  return (
    <section className={classes(cardStyles['card'], styles['run-errors'])} aria-label="Errors">
      {errors.map((text) => (
        <Lines key={text} className={styles['error']}>
          {text}
        </Lines>
      ))}
    </section>
  );
};
