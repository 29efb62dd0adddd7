import { dismiss, useNotices } from '../api/notices.ts';

/** The notices at the edge of the window, which screen readers announce as they come. */
export const Notices = () => (
  <div className="notices" role="status" aria-label="Notices">
    {useNotices().map(({ id, text, isWarning }) => (
      <p key={id} className={isWarning ? 'notice warning' : 'notice'}>
        <span>
          {isWarning && <strong>Warning: </strong>}
          {text}
        </span>
        <button type="button" className="plain" aria-label="Dismiss" onClick={() => dismiss(id)}>
          ✕
        </button>
      </p>
    ))}
  </div>
);
