import { dismiss, useNotices } from '../api/notices.ts';
import { Button } from './button.tsx';
import { classes } from './classes.ts';
import styles from './notices.module.css';

/** The notices at the edge of the window, which screen readers announce as they come. */
export const Notices = () => (
  <div className={styles['notices']} role="status" aria-label="Notices">
    {useNotices().map(({ id, text, isWarning }) => (
      <p key={id} className={classes(styles['notice'], isWarning && styles['warning'])}>
        <span>
          {isWarning && <strong>Warning: </strong>}
          {text}
        </span>
        <Button
          look="plain"
          className={styles['dismiss']}
          aria-label="Dismiss"
          onClick={() => dismiss(id)}
        >
          ✕
        </Button>
      </p>
    ))}
  </div>
);
